"""Host names: RFC 1123, section 2.1, and internationalized ones of RFC 5890 to 5893.

A label with hyphens in its third and fourth place is reserved (RFC 5890,
section 2.3.1), and refused here. Among them are A-labels, `xn--…`: whether one
is valid depends on what Punycode (RFC 3492) decodes it to, an arithmetic over
the whole label that no automaton of a reasonable size repeats.
"""

from __future__ import annotations

from engine.grammar import Choice, Node
from engine.notations.json_schema.formats.texts import matching

_ANY = r"[A-Za-z0-9\-]"
_EDGE = "[A-Za-z0-9]"
LABEL = (
    rf"(?:{_EDGE}{{1,2}}|{_EDGE}{_ANY}{_EDGE}|{_EDGE}{_ANY}(?:{_ANY}{_EDGE}(?:{_ANY}{{0,58}}{_EDGE})?"
    rf"|{_EDGE}-{_ANY}{{0,58}}{_EDGE}))"
)


def hostname() -> Node:
    """Labels of ASCII letters, digits and hyphens, 253 characters at most."""
    return matching(_ascii_name(r"\."))


def idn_hostname() -> Node:
    """A host name, or one with internationalized labels, between any of the dots that IDNA knows."""
    from engine.notations.json_schema.formats.idna import DOTS, name

    return Choice((matching(_ascii_name(f"[{DOTS}]")), name(DOTS)))


def _ascii_name(dot: str) -> str:
    return rf"(?=.{{1,253}}\Z){LABEL}(?:{dot}{LABEL})*"
