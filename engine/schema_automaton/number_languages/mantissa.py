"""The sign and the digits of a number, one byte at a time; see `language` for the idea."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from engine.schema_automaton.number_languages import exponent
from engine.schema_automaton.number_languages.exponent import Exponent
from engine.schema_automaton.number_languages.magnitudes import Bound, Interval, Magnitudes, Prefix

_EVERYWHERE: Final[Interval] = (None, None)

Edge: TypeAlias = tuple[Fraction, bool]
"""A bound, and whether it is strict."""


class MantissaState(Enum):
    """The kind of byte read last."""

    START = "nothing"
    MINUS = "the sign"
    ZERO = "a leading zero"
    WHOLE = "a digit before the decimal point"
    POINT = "the decimal point"
    FRACTION = "a digit behind the decimal point"


class Mantissa(NamedTuple):
    """A state within a mantissa.

    Attributes:
        phase: the kind of byte read last.
        negative: whether there was a minus sign.
        point: the number of digits before the decimal point; if negative, of zeros between it and the first digit.
        prefix: the significant digits; its length is 0 while there are none.
    """

    phase: MantissaState
    negative: bool
    point: int
    prefix: Prefix


_NO_DIGITS: Final = Prefix(0, 0, 0, 0, 0)
START: Final = Mantissa(MantissaState.START, False, 0, _NO_DIGITS)


@dataclass(frozen=True)
class MantissaBound:
    """The numbers of one sign.

    Attributes:
        zero: whether zero is in the set.
        magnitudes: the magnitudes of the others; None if there are none.
    """

    zero: bool
    magnitudes: Magnitudes | None

    @classmethod
    def of(
        cls, lower: Edge | None, upper: Edge | None, multiple: Fraction | None, avoided: tuple[Fraction, ...]
    ) -> MantissaBound:
        """Return the half line between two bounds on which numbers grow away from zero.

        Args:
            lower: the lower bound, if any.
            upper: the upper bound, if any.
            multiple: the divisor of all members, or None.
            avoided: numbers that divide no member.
        """
        over = lower is None or lower[0] < 0 or (lower[0] == 0 and not lower[1])
        under = upper is None or upper[0] > 0 or (upper[0] == 0 and not upper[1])
        zero = over and under and not avoided
        if upper is not None and upper[0] <= 0:
            return cls(zero, None)
        magnitudes = Magnitudes(
            Bound.of(lower[0], strict=lower[1]) if lower is not None and lower[0] > 0 else None,
            Bound.of(upper[0], strict=upper[1]) if upper is not None else None,
            multiple,
            avoided,
        )
        return cls(zero, magnitudes)

    @cached_property
    def reach(self) -> int:
        """Return the distance from the decimal point within which digits are distinguished."""
        found = self.magnitudes
        if found is None:
            return 64
        sizes = [abs(bound.point) + len(bound.digits) for bound in (found.lower, found.upper) if bound is not None]
        return 64 + 2 * (max(sizes, default=0) + found.scale + found.modulus.bit_length() // 3 + 2 * found.fineness)


class DigitAutomaton:
    """Steps through the decimal forms of the numbers of both signs.

    Attributes:
        sides: the positive and the negative numbers.
        whole: whether numbers are written with digits alone.
    """

    def __init__(
        self,
        positive: MantissaBound,
        negative: MantissaBound,
        *,
        whole: bool,
        reach: int | None = None,
    ) -> None:
        self.sides = (positive, negative)
        self.whole = whole
        self._reach = [side.reach if reach is None else reach for side in self.sides]
        self._live: dict[Mantissa, bool] = {}

    def step(self, state: Mantissa | Exponent, byte: int) -> Mantissa | Exponent | None:
        """Return the state after a byte; None if no completion is in the set."""
        if isinstance(state, Exponent):
            return exponent.step(state, byte)
        if byte in (0x45, 0x65):
            interval = None if self.whole else self._exponents(state)
            return None if interval is None else exponent.after_mark(interval)
        following = self._follow(state, byte)
        return following if following is not None and self.is_live(following) else None

    def accepts(self, state: Mantissa | Exponent) -> bool:
        """Return whether the number may end here."""
        if isinstance(state, Exponent):
            return exponent.accepts(state)
        interval = self._plain_exponents(state)
        if interval is None:
            return False
        low, high = interval
        return (low is None or low <= 0) and (high is None or high >= 0)

    def is_live(self, state: Mantissa) -> bool:
        """Return whether some completion is in the set."""
        known = self._live.get(state)
        if known is None:
            known = self._live[state] = self._is_live(state)
        return known

    # ------------------------------------------------------------------ reading

    def _follow(self, state: Mantissa, byte: int) -> Mantissa | None:
        kind = state.phase
        if byte == 0x2D and kind is MantissaState.START:
            return Mantissa(MantissaState.MINUS, True, 0, _NO_DIGITS)
        if byte == 0x2E and kind in (MantissaState.ZERO, MantissaState.WHOLE) and not self.whole:
            return state._replace(phase=MantissaState.POINT)
        if not 0x30 <= byte <= 0x39:
            return None
        digit = byte - 0x30
        match kind:
            case MantissaState.START | MantissaState.MINUS:
                if digit == 0:
                    return state._replace(phase=MantissaState.ZERO)
                return self._significant(Mantissa(MantissaState.WHOLE, state.negative, 0, _NO_DIGITS), digit)
            case MantissaState.WHOLE:
                return self._significant(state, digit)
            case MantissaState.POINT | MantissaState.FRACTION:
                fraction = state._replace(phase=MantissaState.FRACTION)
                leading = digit == 0 and state.prefix.length == 0
                return self._leading_zero(fraction) if leading else self._significant(fraction, digit)
        return None

    def _leading_zero(self, state: Mantissa) -> Mantissa | None:
        magnitudes = self.sides[state.negative].magnitudes
        if magnitudes is None or _is_free(magnitudes):
            return state
        reach = self._reach[state.negative]
        if _is_counted(magnitudes) and -state.point >= reach:
            return None
        return state._replace(point=max(state.point - 1, -reach - 1))

    def _significant(self, state: Mantissa, digit: int) -> Mantissa | None:
        """Return the state after a digit that is not a leading zero."""
        magnitudes = self.sides[state.negative].magnitudes
        if magnitudes is None:
            return None
        before, reach = state.prefix, self._reach[state.negative]
        point = state.point + (state.phase is MantissaState.WHOLE)
        lower, upper = magnitudes.lower, magnitudes.upper
        to_lower = before.to_lower or (lower.compare(before.length, digit) if lower else 1)
        to_upper = before.to_upper or (upper.compare(before.length, digit) if upper else -1)
        count, zeros, residue = before.length + 1, 0, 0
        if self.whole:
            residue = (10 * before.residue + digit) % magnitudes.modulus
            furthest = max((0, *(bound.point for bound in (lower, upper) if bound is not None)))
            if count > furthest:
                count, point, to_lower, to_upper = furthest + 1, furthest + 1, 1, -1
        elif _is_counted(magnitudes):
            zeros, residue = before.zeros + 1, before.residue
            if digit:
                residue = (before.residue * 10**zeros + digit) % magnitudes.modulus
                zeros = 0
            if count + max(0, -point) > reach:
                return None
        else:
            point = 0 if _is_free(magnitudes) else min(point, reach + 1)
            longest = max((len(bound.digits) for bound in (lower, upper) if bound is not None), default=0)
            count = 1 if to_lower and to_upper else min(count, longest + 1)
        return Mantissa(state.phase, state.negative, point, Prefix(count, zeros, residue, to_lower, to_upper))

    # ------------------------------------------------------------------ deciding

    def _exponents(self, state: Mantissa) -> Interval | None:
        """Return the exponents that may follow."""
        return None if abs(state.point) > self._reach[state.negative] else self._plain_exponents(state)

    def _plain_exponents(self, state: Mantissa) -> Interval | None:
        if state.phase in (MantissaState.START, MantissaState.MINUS, MantissaState.POINT):
            return None
        side = self.sides[state.negative]
        if not state.prefix.length:
            return _EVERYWHERE if side.zero else None
        assert side.magnitudes is not None
        return side.magnitudes.exponents(state.prefix, state.point)

    def _is_live(self, state: Mantissa) -> bool:
        if state.phase in (MantissaState.START, MantissaState.MINUS):
            return any(self.step(state, byte) is not None for byte in b"-0123456789")
        if self.accepts(state):
            return True
        if not self.whole and self._exponents(state) is not None:
            return True
        if state.prefix.length:
            return self._meets(state)
        if self.sides[state.negative].zero:
            return True
        if self.whole:
            return False
        fraction = state._replace(phase=MantissaState.FRACTION)
        firsts = (self._significant(fraction, digit) for digit in range(1, 10))
        return any(self._meets(first, leading=True) for first in firsts if first is not None)

    def _meets(self, state: Mantissa, *, leading: bool = False) -> bool:
        """Return whether digits, and an exponent where it is allowed, complete a number of the set.

        Args:
            state: a state with at least one significant digit.
            leading: whether more zeros may come before that digit.
        """
        magnitudes = self.sides[state.negative].magnitudes
        assert magnitudes is not None
        reach = self._reach[state.negative]
        least, most = magnitudes.points(state.prefix)
        if self.whole or abs(state.point) > reach:
            if leading:
                most = min(most, state.point)
                least = min(least, most)
            elif state.phase is MantissaState.WHOLE:
                least = max(least, state.point)
            else:
                least = most = state.point
        digits_left = reach - max(0, -state.point) - (state.phase is MantissaState.POINT)
        counted = _is_counted(magnitudes) and not self.whole
        return any(
            magnitudes.meets(state.prefix, point)
            for point in range(most, least - 1, -1)
            if not counted or magnitudes.length(state.prefix, point) <= digits_left
        )


def _is_counted(magnitudes: Magnitudes) -> bool:
    """Return whether multiples matter, so that every digit does."""
    return magnitudes.multiple is not None or bool(magnitudes.avoided)


def _is_free(magnitudes: Magnitudes) -> bool:
    return magnitudes.lower is None and magnitudes.upper is None and not _is_counted(magnitudes)
