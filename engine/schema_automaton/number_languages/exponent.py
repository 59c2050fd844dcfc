"""The exponent of a number: an integer within an interval, after `e`.

It may have a sign and any number of leading zeros, so `e5`, `E+005` and `e-0` are
exponents. The state keeps the value of the digits read, and drops it where any digits
may follow.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from engine.schema_automaton.number_languages.magnitudes import Interval


class ExponentState(Enum):
    """The kind of byte read last."""

    MARK = "e"
    SIGN = "sign"
    DIGIT = "digit"


class Exponent(NamedTuple):
    """A state within an exponent.

    Attributes:
        phase: the kind of byte read last.
        low: the least exponent; after a sign, the least magnitude; None for no bound.
        high: the greatest, likewise.
        value: the magnitude of the digits so far.
    """

    phase: ExponentState
    low: int | None
    high: int | None
    value: int


def after_mark(interval: Interval) -> Exponent:
    """Return the state after the `e`; the interval is not empty."""
    return Exponent(ExponentState.MARK, *interval, 0)


def step(state: Exponent, byte: int) -> Exponent | None:
    """Return the state after a byte; None if no completion lies in the interval."""
    low, high = state.low, state.high
    if state.phase is ExponentState.MARK:
        if byte == 0x2D:
            return _signed(0 if high is None else -high, None if low is None else -low)
        positive = _signed(low or 0, high)
        return positive if byte == 0x2B or positive is None else step(positive, byte)
    if not 0x30 <= byte <= 0x39:
        return None
    value = 10 * state.value + byte - 0x30
    least = low or 0
    if high is None and value >= least:
        return Exponent(ExponentState.DIGIT, 0, None, 0)
    if not _can_reach(value, least, high):
        return None
    return Exponent(ExponentState.DIGIT, low, high, value)


def accepts(state: Exponent) -> bool:
    """Return whether the exponent may end here."""
    return (
        state.phase is ExponentState.DIGIT
        and state.value >= (state.low or 0)
        and (state.high is None or state.value <= state.high)
    )


def _signed(low: int, high: int | None) -> Exponent | None:
    low = max(low, 0)
    return Exponent(ExponentState.SIGN, low, high, 0) if high is None or low <= high else None


def _can_reach(value: int, low: int, high: int | None) -> bool:
    """Return whether more digits, or none, lead into the interval, which is not empty."""
    if value == 0 or high is None:
        return True
    first, last = value, value
    while first <= high:
        if last >= low:
            return True
        first, last = first * 10, last * 10 + 9
    return False
