"""Formatting of probabilities and durations for the window, messages and the command line.

There is one function for each purpose, so that equal numbers look equal everywhere. `page.js` of a shared page
implements the same rules in JavaScript.
"""

from __future__ import annotations

import math

_MIN_IN_COLUMN = 0.00005  # below this, two decimals of a percent would round to 0.00%
_MIN_BRIEF = 0.001
_INTEGER_FROM = 10  # durations from this value on have no decimals
_MINUTE = 60
UNKNOWN = "?"
"""The text of a number that a source did not return."""


def percent(p: float | None) -> str:
    """Format a probability for prose: two significant digits below 10%; 0% and 100% only if exact.

    >>> [percent(p) for p in (0, 0.0031, 0.456, 0.99999, 1, None)]
    ['0%', '0.31%', '45.6%', '>99.9%', '100%', '?']
    """
    if p is None:
        return UNKNOWN
    if p <= 0:
        return "0%"
    if p >= 1:
        return "100%"
    value = p * 100
    if value > 99.9:
        return ">99.9%"
    if value < 0.0001:
        return "<0.0001%"
    decimals = 1 if value >= 1 else 1 - math.floor(math.log10(value))
    return f"{value:.{decimals}f}%"


def percent_brief(p: float) -> str:
    """Format a probability as `percent` does, but in at most six characters."""
    return "<0.1%" if 0 < p < _MIN_BRIEF else percent(p)


def percent_between(low: float, high: float) -> str:
    """Format a probability that is known to be between two bounds; as `percent` does if both have the same text.

    >>> [percent_between(*bounds) for bounds in ((0, 0.05), (0.31, 0.356), (0.5, 1), (0, 1), (0.25, 0.25))]
    ['≤5.0%', '31.0–35.6%', '≥50.0%', '?', '25.0%']
    """
    if percent(low) == percent(high):
        return percent(low)
    if low <= 0:
        return UNKNOWN if high >= 1 else f"≤{percent(high)}"
    return f"≥{percent(low)}" if high >= 1 else f"{percent(low).removesuffix('%')}–{percent(high)}"


def percent_column(p: float | None) -> str:
    """Format a probability for a column: two decimals, so that the points align; 0% and 100% only if exact.

    >>> [percent_column(p) for p in (0, 0.00001, 0.0312, 0.99999, 1, None)]
    ['0.00%', '<0.01%', '3.12%', '>99.99%', '100.00%', '?']
    """
    if p is None:
        return UNKNOWN
    if 0 < p < _MIN_IN_COLUMN:
        return "<0.01%"
    if 1 - _MIN_IN_COLUMN < p < 1:
        return ">99.99%"
    return f"{min(max(p, 0.0), 1.0) * 100:.2f}%"


def duration(seconds: float) -> str:
    """Format a duration in a suitable unit with two or three significant digits.

    >>> [duration(s) for s in (0.0000034, 0.000387, 0.38735, 1.1609, 75)]
    ['3.4 µs', '387 µs', '387 ms', '1.2 s', '1 min 15 s']
    """
    for unit, value in (("µs", seconds * 1e6), ("ms", seconds * 1e3), ("s", seconds)):
        limit = _MINUTE if unit == "s" else 1000
        shown = round(value, 1) if round(value, 1) < _INTEGER_FROM else round(value)
        if shown < limit:
            return f"{shown:.1f} {unit}" if shown < _INTEGER_FROM else f"{shown:,.0f} {unit}"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes:,} min {rest} s"
