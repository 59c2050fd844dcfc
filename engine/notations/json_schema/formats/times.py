"""Dates, times and durations of RFC 3339 that exist.

Leap years follow the Gregorian rule; the year 0000, which most libraries do not support, is excluded. A leap second is
at the end of a UTC day, so the offset decides which local minute may have one: local = 23:59 + offset. Hours and
minutes are compared one after the other, each with a lookahead to the offset, since a list of all pairs would have
2,880 entries. With a date, the UTC day is June 30 or December 31 (RFC 3339, section 5.7).

Durations follow RFC 3339, appendix A: `P1Y2D` skips the months and is invalid.
"""

from __future__ import annotations

from engine.notations.json_schema.formats.pattern_nodes import one_of

YEAR = r"(?:\d{3}[1-9]|\d{2}[1-9]0|\d[1-9]00|[1-9]000)"
_LEAP_YEAR = r"(?:\d{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"

DATE = (
    rf"(?:{YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    rf"|02-(?:0[1-9]|1\d|2[0-8]))|{_LEAP_YEAR}-02-29)"
)

FRACTION = r"(?:\.\d+)?"
_HOUR = r"(?:[01]\d|2[0-3])"
_OFFSET = rf"(?:[Zz]|[+-]{_HOUR}:[0-5]\d)"
ORDINARY_TIME = rf"{_HOUR}:[0-5]\d:[0-5]\d{FRACTION}{_OFFSET}"


def _leap_in_the_west() -> str:
    """Return leap seconds in local times west of Greenwich: 23:59 less the offset, hours and minutes separately."""
    hours = one_of([rf"{23 - hour:02}(?=:[0-5]\d:60{FRACTION}-{hour:02}:)" for hour in range(24)])
    minutes = one_of([rf"{59 - minute:02}(?=:60{FRACTION}-\d\d:{minute:02})" for minute in range(60)])
    return rf"{hours}:{minutes}:60{FRACTION}-{_HOUR}:[0-5]\d"


def _leap_in_the_east() -> str:
    """Return leap seconds in local times to the east, on the next local day: the offset less a minute."""
    hours = one_of([rf"{hour:02}(?=:[0-5]\d:60{FRACTION}\+{hour:02}:)" for hour in range(24)])
    minutes = one_of([rf"{minute - 1:02}(?=:60{FRACTION}\+\d\d:{minute:02})" for minute in range(1, 60)])
    full_hours = one_of([rf"{hour - 1:02}(?=:59:60{FRACTION}\+{hour:02}:00)" for hour in range(1, 24)])
    return rf"(?:{hours}:{minutes}:60{FRACTION}\+{_HOUR}:[0-5]\d|{full_hours}:59:60{FRACTION}\+{_HOUR}:00)"


_LEAP_SAME_DAY = rf"(?:23:59:60{FRACTION}(?:[Zz]|\+00:00)|{_leap_in_the_west()})"
_LEAP_NEXT_DAY = _leap_in_the_east()

TIME = rf"(?:{ORDINARY_TIME}|{_LEAP_SAME_DAY}|{_LEAP_NEXT_DAY})"
DATE_TIME = (
    rf"(?:{DATE}[Tt]{ORDINARY_TIME}|{YEAR}-(?:(?:06-30|12-31)[Tt]{_LEAP_SAME_DAY}"
    rf"|(?:07-01|01-01)[Tt]{_LEAP_NEXT_DAY}))"
)

_CLOCK = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_CALENDAR = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
DURATION = rf"P(?:{_CALENDAR}(?:{_CLOCK})?|{_CLOCK}|\d+W)"
