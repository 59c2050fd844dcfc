"""Host names: RFC 1123, section 2.1, and internationalized ones of RFC 5890 to 5893.

A label with hyphens as its third and fourth character is reserved (RFC 5890, section 2.3.1) and refused here. These
include A-labels, `xn--…`, which are host names as well, but decoding their Punycode (RFC 3492) is not possible with an
automaton: the lexer of names checks the text of each (`engine.schema_automaton.lexing.host_name_lexer`, and
`strings.a_labels`, which lists the exceptions).

This applies if the format is the only constraint of a string. With another constraint on the same string (a length
other than that of names, a pattern, an alternative of `anyOf`, items before it that it must differ from), and for keys,
the language below is complete, and A-labels are refused. A negated format uses `OUTER_HOSTNAME`, and an A-label does
not match it either.
"""

from __future__ import annotations

from typing import Final

from engine.grammar import Choice, Node
from engine.notations.json_schema.formats.pattern_nodes import matching

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
    """Return names of labels of ASCII letters, digits and hyphens, 253 characters at most."""
    return matching(_ascii_name(r"\."))


def idn_hostname() -> Node:
    """Return ASCII host names and internationalized ones, with any of IDNA's dots between labels."""
    from engine.notations.json_schema.formats.idna import DOTS, name

    return Choice((matching(_ascii_name(f"[{DOTS}]")), name(DOTS)))


def _ascii_name(dot: str) -> str:
    return rf"(?=.{{1,{MOST_CHARACTERS}}}\Z){LABEL}(?:{dot}{LABEL})*"
