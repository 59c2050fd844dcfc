"""Host names: RFC 1123, section 2.1, and internationalized ones of RFC 5890 to 5893.

A label with hyphens in its third and fourth place is reserved (RFC 5890,
section 2.3.1), and refused here. Among them are A-labels, `xn--…`, which are
host names as well, but what Punycode (RFC 3492) decodes one to is beyond every
automaton: what reads a name looks at the text of each (`engine.schema_automaton.lexing.host_name_lexer`,
and `strings.a_labels`, which says which of them are left out).

So it does where the format is all that is said of a string. Where more is said of
the same string (another length than names have, a pattern, an alternative of
`anyOf`, items before it that it must differ from) or of a key, what is below is all,
and A-labels are refused. Where the format is negated, `OUTER_HOSTNAME` stands for it,
and an A-label is no such string either.
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
    """Labels of ASCII letters, digits and hyphens, 253 characters at most."""
    return matching(_ascii_name(r"\."))


def idn_hostname() -> Node:
    """A host name, or one with internationalized labels, between any of the dots that IDNA knows."""
    from engine.notations.json_schema.formats.idna import DOTS, name

    return Choice((matching(_ascii_name(f"[{DOTS}]")), name(DOTS)))


def _ascii_name(dot: str) -> str:
    return rf"(?=.{{1,{MOST_CHARACTERS}}}\Z){LABEL}(?:{dot}{LABEL})*"
