"""Languages of numbers with or without a few numbers that are too large for arithmetic.

An array whose items must all differ excludes the earlier values. Numbers of usual size are excluded by splitting a
range (see `solver`). A number such as 1e99999 would need bounds of that many digits, so it is excluded by its digits
instead: beside the language, the automaton compares what is read with the significant digits and the decimal point of
each excluded number. Once a digit differs, there is nothing left to compare.

A number of that size is never the only one that a language allows, since bounds and divisors have at most `LARGEST`
digits: more digits may follow, or another digit or exponent. Where the exponents of a mantissa have two bounds, the
excluded exponent may be the only one left, and then the automaton does not go there.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from engine.schema_automaton.formula.values import LARGEST, HugeNumber, integer, number
from engine.schema_automaton.number_languages.exponent import Exponent, ExponentState
from engine.schema_automaton.number_languages.language import NUMERIC, NumberLanguage, number_language
from engine.schema_automaton.number_languages.language import State as BaseState
from engine.schema_automaton.number_languages.magnitudes import decimals
from engine.schema_automaton.number_languages.mantissa import Mantissa, MantissaState

_DEEPEST = 64
"""The depth of the search for a number that is not excluded, in digits."""


class _Digits(NamedTuple):
    """The comparison of a mantissa's digits with some numbers.

    Attributes:
        point: the position of the decimal point, counted from the first significant digit.
        left: the numbers that begin with the digits, each with the number of digits that agree.
    """

    point: int
    left: tuple[tuple[HugeNumber, int], ...]


class _Power(NamedTuple):
    """The comparison of an exponent with those that make one of the numbers.

    Attributes:
        value: the digits so far, as a number.
        left: the exponents that make one of the numbers, without their sign once that is read.
    """

    value: int
    left: tuple[int, ...]


class State(NamedTuple):
    """A state of the language and the comparison; None once the number is known to be none of them."""

    base: BaseState
    compared: _Digits | _Power | None


class _ComparingLanguage:
    """A language of numbers that compares what is read with some numbers. It is compared by identity.

    Attributes:
        base: the language.
        numbers: the numbers.
    """

    def __init__(self, base: NumberLanguage, numbers: frozenset[HugeNumber]) -> None:
        self.base = base
        self.numbers = numbers

    @property
    def start(self) -> State | None:
        """Return the state before the first byte; None if the language is empty."""
        start = self.base.start
        return None if start is None else State(start, _Digits(0, tuple((each, 0) for each in self.numbers)))

    def step(self, state: State, byte: int) -> State | None:
        """Return the state after a byte; None if no completion is a number of the set."""
        following = self._follow(state, byte)
        return following if following is not None and self._is_live(following) else None

    def row(self, state: State) -> tuple[State | None, ...]:
        """Return the state after each byte of `NUMERIC`."""
        return tuple(self.step(state, byte) for byte in NUMERIC)

    def accepts(self, state: State) -> bool:
        """Return whether a number of the set ends here."""
        raise NotImplementedError

    def _is_live(self, state: State) -> bool:
        raise NotImplementedError

    def _follow(self, state: State, byte: int) -> State | None:
        base = self.base.step(state.base, byte)
        if base is None:
            return None
        compared = state.compared
        if isinstance(compared, _Digits):
            compared = _after_mark(compared) if isinstance(base, Exponent) else _after_byte(compared, base, byte)
        elif isinstance(compared, _Power):
            compared = _after_power(compared, byte)
        return State(base, compared if compared is not None and compared.left else None)


class LanguageWithout(_ComparingLanguage):
    """A language of numbers without some numbers."""

    def accepts(self, state: State) -> bool:
        """Return whether a number of the set ends here."""
        return self.base.accepts(state.base) and not _is_one(state)

    def witness(self) -> str | None:
        """Return a number of the set; None if the number at hand is excluded."""
        written = self.base.witness()
        return None if written is None or number(written) in self.numbers else written

    def _is_live(self, state: State, depth: int = _DEEPEST) -> bool:
        compared = state.compared
        if compared is None or self.accepts(state) or depth == 0:
            return True
        if isinstance(compared, _Power):
            assert isinstance(state.base, Exponent)
            return _leaves_another(state.base, compared)
        following = (self._follow(state, byte) for byte in NUMERIC)
        return any(each is not None and self._is_live(each, depth - 1) for each in following)


class LanguageOf(_ComparingLanguage):
    """The language of some numbers in all forms, or in plain digits only."""

    def accepts(self, state: State) -> bool:
        """Return whether one of the numbers ends here."""
        return self.base.accepts(state.base) and _is_one(state)

    def witness(self) -> str | None:
        """Return None: such a number is not written out."""
        return None

    def _is_live(self, state: State) -> bool:
        compared = state.compared
        if isinstance(compared, _Digits):
            return not self.base.integer or any(compared.point <= each.point for each, _ in compared.left)
        if compared is None:
            return False
        assert isinstance(state.base, Exponent)
        return state.base.phase is not ExponentState.DIGIT or any(
            _begins(compared.value, power) for power in compared.left
        )


@lru_cache(maxsize=256)
def without(base: NumberLanguage, excluded: frozenset[HugeNumber]) -> LanguageWithout:
    """Return a language without some numbers; equal arguments give the same object."""
    return LanguageWithout(base, excluded)


@lru_cache(maxsize=256)
def language_of(numbers: frozenset[HugeNumber], *, written: bool) -> LanguageOf:
    """Return the language of some numbers; equal arguments give the same object.

    Args:
        numbers: the numbers; they are integers if `written`.
        written: whether they are written without fraction and exponent.
    """
    return LanguageOf(number_language(integer=True) if written else number_language(), numbers)


def is_above(value: HugeNumber, bound: Fraction) -> bool:
    """Return whether a number is greater than a bound; it never equals one."""
    if value.negative != (bound < 0):
        return not value.negative
    size = _compare_size(value, abs(bound))
    return size < 0 if value.negative else size > 0


def _compare_size(value: HugeNumber, bound: Fraction) -> int:
    """Compare the magnitude of a number with a bound that is not negative: -1 or 1."""
    if value.point > LARGEST:
        return 1
    kept = max(0, value.point + LARGEST)  # digits up to the last decimal that a bound may have; the value has more
    cut = int(value.digits[:kept] or "0")
    return 1 if cut >= bound * 10**LARGEST else -1


def is_multiple(value: HugeNumber, divisor: Fraction) -> bool:
    """Return whether a number is an integer times a divisor."""
    scale = decimals(divisor)
    power = value.point - len(value.digits) + scale
    if power < 0:
        return False
    whole = divisor.numerator * 10**scale // divisor.denominator
    return bool(integer(value.digits) * pow(10, power, whole) % whole == 0)


def _after_byte(compared: _Digits, base: Mantissa, byte: int) -> _Digits:
    if byte == 0x2D:
        return compared
    left = compared.left
    if (
        base.phase in (MantissaState.WHOLE, MantissaState.ZERO) and not compared.point
    ):  # at the first digit, the sign is known
        left = tuple((each, count) for each, count in left if each.negative == base.negative)
    if byte == 0x2E:
        return _Digits(compared.point, left)
    if not base.prefix.length:  # a zero before all other digits
        return _Digits(compared.point - (base.phase is MantissaState.FRACTION), left)
    digit = chr(byte)
    agreeing = tuple(
        (each, count + 1) for each, count in left if (each.digits[count] if count < len(each.digits) else "0") == digit
    )
    return _Digits(compared.point + (base.phase is MantissaState.WHOLE), agreeing)


def _after_mark(compared: _Digits) -> _Power:
    whole = (each.point - compared.point for each, count in compared.left if count >= len(each.digits))
    return _Power(0, tuple(dict.fromkeys(whole)))


def _after_power(compared: _Power, byte: int) -> _Power:
    if byte == 0x2D:
        return _Power(0, tuple(-power for power in compared.left if power <= 0))
    if byte == 0x2B:
        return _Power(0, tuple(power for power in compared.left if power >= 0))
    value = 10 * compared.value + byte - 0x30
    return _Power(value, tuple(power for power in compared.left if power >= value))


def _is_one(state: State) -> bool:
    compared = state.compared
    if isinstance(compared, _Digits):
        return any(each.point == compared.point and count >= len(each.digits) for each, count in compared.left)
    return compared is not None and compared.value in compared.left


def _leaves_another(base: Exponent, compared: _Power) -> bool:
    """Return whether digits, or none, lead to an exponent that makes none of the numbers."""
    is_signed = base.phase is ExponentState.MARK  # the sign may still come, and the bounds have theirs
    if base.high is None or (is_signed and base.low is None):
        return True
    low, high = base.low or 0, base.high
    first, last = (base.value, base.value) if base.value else (low, high)  # zeros may come before all other digits
    while first <= high:
        least, most = max(first, low), min(last, high)
        if most - least + 1 > sum(least <= power <= most for power in compared.left):
            return True
        if not base.value:
            return False
        first, last = 10 * first, 10 * last + 9
    return False


def _begins(value: int, power: int) -> bool:
    """Return whether digits, or none, after those of a value lead to an exponent."""
    if not value:
        return True
    first, last = value, value
    while last < power:
        first, last = 10 * first, 10 * last + 9
    return first <= power
