"""JSON numbers under bounds and multiples: a digit automaton, decided exactly.

The state holds only what still matters of the value: the position of the first
significant digit, how the digits compare with each bound, residues (see `magnitudes`).
A byte is allowed only if some completion is a number of the set, and that is decided by
arithmetic, not by search. The set of exponents that a mantissa may take is an interval,
so an exponent of any size is exact: 1e2, 100.0, 0.1e3 and 10000e-0002 are one number
here. Bounds and divisors are fractions taken from the schema's own text, with up to
`LARGEST` digits before the decimal point and as many after it.

An integer is written without fraction and exponent. Other numbers take any JSON
form, `-0` among them, with one restriction that keeps the number of states finite:
with a bound on its side of zero, an exponent may follow a mantissa only if its first
significant digit is within `reach` digits of the decimal point; and under
`multiple_of` (other than on integers) a number has at most `reach` digits.
`reach` is 64 or more, and grows with the length of the bounds. A sign without
bounds and multiples has no such restriction.

Rejected: the value read so far as the state (every number then makes states of
its own, and no mask is used twice), and regular expressions for ranges (they do not
combine with exponents, and multiples make them huge).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Final, TypeAlias

from engine.schema_automaton.formula.values import LARGEST
from engine.schema_automaton.number_languages.exponent import Exponent
from engine.schema_automaton.number_languages.magnitudes import decimals, plain_digits
from engine.schema_automaton.number_languages.mantissa import START, DigitAutomaton, Edge, Mantissa, MantissaBound
from engine.source import LimitExceededError, check_cancelled, checkpoint

NUMERIC: Final = b"0123456789+-.eE"
"""The bytes of JSON numbers."""

_MOST_ROWS: Final = 1_000

Number: TypeAlias = int | Decimal | Fraction
State: TypeAlias = Mantissa | Exponent


def fraction(number: Number) -> Fraction:
    """Return a number of a schema as an exact fraction.

    Raises:
        LimitExceededError: it has more than `LARGEST` digits on a side of its decimal point.
        ValueError: it has no finite decimal form, so it is not a JSON number.
    """
    if isinstance(number, Decimal):
        if not number.is_finite():
            raise ValueError(f"{number} is no JSON number")
        if not number:
            return Fraction(0)
        _check(abs(number.adjusted()))
    value = Fraction(number)
    if 10 ** decimals(value) % value.denominator:
        raise ValueError(f"{value} has no finite decimal form")
    whole = abs(value.numerator) // value.denominator
    _check(max(decimals(value), whole.bit_length() * 3 // 10))
    return value


def _check(digits: int) -> None:
    if digits > LARGEST:
        raise LimitExceededError("errors.limit.number_digits", given=digits, limit=LARGEST)


def _tightest(
    choose: Callable[[list[Fraction]], Fraction], inclusive: Number | None, exclusive: Number | None
) -> Edge | None:
    """Return the tightest bound, and whether it is strict."""
    values = [Fraction(number) for number in (inclusive, exclusive) if number is not None]
    if not values:
        return None
    best = choose(values)
    return best, exclusive is not None and best == Fraction(exclusive)


@dataclass(frozen=True, eq=False)
class NumberLanguage:
    """The JSON forms of the numbers that satisfy all of the conditions. It is compared by identity.

    Attributes:
        minimum: the least number.
        exclusive_minimum: a number below all of them.
        maximum: the greatest number.
        exclusive_maximum: a number above all of them.
        multiple_of: divisors of all of them.
        not_multiple_of: divisors of none of them, for the negation of `multiple_of`.
        integer: whether they are integers, written with digits alone.
        digits: the automaton of the numbers, digit by digit.
    """

    minimum: Number | None = None
    exclusive_minimum: Number | None = None
    maximum: Number | None = None
    exclusive_maximum: Number | None = None
    multiple_of: tuple[Number, ...] = ()
    not_multiple_of: tuple[Number, ...] = ()
    integer: bool = False
    digits: DigitAutomaton = field(init=False, repr=False)
    _rows: dict[State, tuple[State | None, ...]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        check_cancelled()  # an enumeration has thousands of these
        for name in ("minimum", "exclusive_minimum", "maximum", "exclusive_maximum"):
            number = getattr(self, name)
            object.__setattr__(self, name, None if number is None else fraction(number))
        for name in ("multiple_of", "not_multiple_of"):
            divisors = tuple(sorted({abs(fraction(divisor)) for divisor in getattr(self, name)}))
            if divisors and not divisors[0]:
                raise ValueError("zero divides nothing")
            object.__setattr__(self, name, divisors)
        digits = DigitAutomaton(self._side(1), self._side(-1), whole=self.integer)
        object.__setattr__(self, "digits", digits)

    def _side(self, sign: int) -> MantissaBound:
        lower = _tightest(max, self.minimum, self.exclusive_minimum)
        upper = _tightest(min, self.maximum, self.exclusive_maximum)
        if sign < 0:
            lower, upper = (upper and (-upper[0], upper[1])), (lower and (-lower[0], lower[1]))
        divisors = [Fraction(divisor) for divisor in (*self.multiple_of, *((1,) if self.integer else ()))]
        multiple = None
        if divisors:
            scale = 10 ** max(map(decimals, divisors))
            multiple = Fraction(lcm(*(int(divisor * scale) for divisor in divisors)), scale)
        return MantissaBound.of(lower, upper, multiple, tuple(Fraction(divisor) for divisor in self.not_multiple_of))

    # ------------------------------------------------------------------ the language

    @property
    def start(self) -> State | None:
        """Return the state before the first byte; None if the set is empty."""
        return START if self.digits.is_live(START) else None

    def step(self, state: State, byte: int) -> State | None:
        """Return the state after a byte; None if no completion is a number of the set."""
        return self.digits.step(state, byte)

    def row(self, state: State) -> tuple[State | None, ...]:
        """Return the state after each byte of `NUMERIC`."""
        row = self._rows.get(state)
        if row is None:
            checkpoint(48)
            row = tuple(self.digits.step(state, byte) for byte in NUMERIC)
            if len(self._rows) < _MOST_ROWS:
                self._rows[state] = row
        return row

    def accepts(self, state: State) -> bool:
        """Return whether a number of the set ends here."""
        return self.digits.accepts(state)

    # ------------------------------------------------------------------ the set

    def __contains__(self, number: Number) -> bool:
        value = Fraction(number)
        return (
            (self.minimum is None or value >= Fraction(self.minimum))
            and (self.exclusive_minimum is None or value > Fraction(self.exclusive_minimum))
            and (self.maximum is None or value <= Fraction(self.maximum))
            and (self.exclusive_maximum is None or value < Fraction(self.exclusive_maximum))
            and all((value / Fraction(divisor)).denominator == 1 for divisor in self.multiple_of)
            and all((value / Fraction(divisor)).denominator != 1 for divisor in self.not_multiple_of)
            and (not self.integer or value.denominator == 1)
        )

    def witness(self) -> str | None:
        """Return a number of the set, zero if possible; None if the set is empty."""
        positive, negative = self.digits.sides
        if positive.zero:
            return "0"
        for sign, side in (("", positive), ("-", negative)):
            value = side.magnitudes.least() if side.magnitudes is not None else None
            if value is not None:
                return sign + plain_digits(value)
        return None


@lru_cache(maxsize=256)
def number_language(
    minimum: Number | None = None,
    exclusive_minimum: Number | None = None,
    maximum: Number | None = None,
    exclusive_maximum: Number | None = None,
    multiple_of: tuple[Number, ...] = (),
    not_multiple_of: tuple[Number, ...] = (),
    integer: bool = False,
) -> NumberLanguage:
    """Return a language of numbers, cached: schemas request the same few again and again.

    Args:
        minimum: the least number; None for no bound, as in the other bounds.
        exclusive_minimum: a number below all of them.
        maximum: the greatest number.
        exclusive_maximum: a number above all of them.
        multiple_of: divisors of all of them.
        not_multiple_of: divisors of none of them.
        integer: whether they are integers, written with digits alone.
    """
    return NumberLanguage(minimum, exclusive_minimum, maximum, exclusive_maximum, multiple_of, not_multiple_of, integer)
