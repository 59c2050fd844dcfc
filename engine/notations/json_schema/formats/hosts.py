"""Host names: RFC 1123, section 2.1, and internationalized ones of RFC 5890 to 5893.

A label with hyphens in its third and fourth place is reserved (RFC 5890,
section 2.3.1), and refused here. Among them are A-labels, `xn--…`, which are
host names as well: so where the format is negated, `OUTER_HOSTNAME` stands for
it, and an A-label is neither.

Whether an A-label is valid depends on what Punycode (RFC 3492) decodes it to.
Each text of a label is a state of its own, since its characters are numbers that
what follows builds on, and up to the last eight characters of a label, none of
them is a dead end: another hyphen makes plain letters of all before it. So a mask
behind `xn--` would look at every token of letters and digits, which are 18,212 of
131,072 in tekken, along 30,325 beginnings, each a state of 37 successors in a table
of rows of 256: seconds and gigabytes for one mask. Rejected: that; and those labels
only that an automaton of some size holds, where the digits of one character
beyond ASCII depend on the position and on all before it.

What would serve: a reading state that only counts, and a look at the text where
a label ends, as items that must differ have it (`actions.ASK`). Tokens that end
a label within themselves are few (in tekken, behind two different beginnings).
"""

from __future__ import annotations

from typing import Final

from engine.grammar import Choice, Node
from engine.notations.json_schema.formats.texts import matching

MOST_IN_LABEL: Final = 63
MOST_CHARACTERS: Final = 253

ANY = r"[A-Za-z0-9\-]"
EDGE = "[A-Za-z0-9]"
LABEL = (
    rf"(?:{EDGE}{{1,2}}|{EDGE}{ANY}{EDGE}|{EDGE}{ANY}(?:{ANY}{EDGE}(?:{ANY}{{0,58}}{EDGE})?"
    rf"|{EDGE}-{ANY}{{0,58}}{EDGE}))"
)
OUTER_HOSTNAME = r"[A-Za-z0-9](?:[A-Za-z0-9.\-]*[A-Za-z0-9])?"
OUTER_IDN_HOSTNAME = r"(?s)[^\x00-,./:-@\[-`{-\x7F\-](?:[^\x00-,/:-@\[-`{-\x7F]*[^\x00-,./:-@\[-`{-\x7F\-])?"


def hostname() -> Node:
    """Labels of ASCII letters, digits and hyphens, 253 characters at most."""
    return matching(_ascii_name(r"\."))


def idn_hostname() -> Node:
    """A host name, or one with internationalized labels, between any of the dots that IDNA knows."""
    from engine.notations.json_schema.formats.idna import DOTS, name

    return Choice((matching(_ascii_name(f"[{DOTS}]")), name(DOTS)))


def _ascii_name(dot: str) -> str:
    return rf"(?=.{{1,{MOST_CHARACTERS}}}\Z){LABEL}(?:{dot}{LABEL})*"
