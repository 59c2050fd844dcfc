"""Readable approximations of formats whose exact form is too large.

A leap second depends on the offset after it, and a host name limits its length and that of each label: as automata,
both take ten thousand states and more. Plain spelling writes these approximations instead. Each is a subset of its
format.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from engine.grammar import Node
from engine.notations.json_schema.formats.addresses import LABEL
from engine.notations.json_schema.formats.pattern_nodes import matching
from engine.notations.json_schema.formats.times import DATE

_HOUR: Final = r"(?:[01]\d|2[0-3])"
_TIME: Final = rf"{_HOUR}:[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]{_HOUR}:[0-5]\d)"

# 3 labels of 63 characters, or 8 of 30, stay below 253 characters with their dots.
_SHORT_LABEL: Final = LABEL.replace("{0,58}", "{0,25}")
_HOST: Final = rf"(?:{LABEL}(?:\.{LABEL}){{0,2}}|{_SHORT_LABEL}(?:\.{_SHORT_LABEL}){{3,7}})"

# A mailbox has at most 64 characters before the sign, dots included, and 254 in total: 2 labels of 63, 4 of 46 and 8 of
# 22 have at most 189 with their dots.
_ATOM: Final = r"[A-Za-z0-9!\#$%&'*+\-/=?\^_`{|}~]"
_LOCAL: Final = rf"(?:{_ATOM}{{1,64}}|{_ATOM}{{1,31}}\.{_ATOM}{{1,31}}|{_ATOM}{{1,15}}(?:\.{_ATOM}{{1,15}}){{2,3}})"


def _mail_name(most_in_label: int, fewest_dots: int, most_dots: int) -> str:
    label = rf"[A-Za-z0-9](?:[A-Za-z0-9\-]{{0,{most_in_label - 2}}}[A-Za-z0-9])?"
    return rf"{label}(?:\.{label}){{{fewest_dots},{most_dots}}}"


_DOMAIN: Final = f"(?:{_mail_name(63, 0, 1)}|{_mail_name(46, 2, 3)}|{_mail_name(22, 4, 7)})"


class _Everyday(NamedTuple):
    pattern: str
    lacks: str


_FORMATS: Final = {
    "date-time": _Everyday(rf"{DATE}[Tt]{_TIME}", "no leap second"),
    "time": _Everyday(_TIME, "no leap second"),
    "hostname": _Everyday(_HOST, "at most 8 labels, and of 30 characters at most where there are more than 3"),
    "email": _Everyday(
        f"{_LOCAL}@{_DOMAIN}", "no quotes and no address literal, 3 dots before @ at most, 7 behind, no part too long"
    ),
}
NAMES: Final = frozenset(_FORMATS)


@cache
def approximate_format(name: str) -> Node:
    """Return the strings of a format in its approximate form."""
    return matching(_FORMATS[name].pattern)


def lacks(name: str) -> str:
    """Return what that form lacks, as words that continue "a … has"."""
    return _FORMATS[name].lacks
