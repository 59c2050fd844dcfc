"""Mailboxes of RFC 5321, section 4.1.2, and of RFC 6531, which allows characters beyond ASCII.

The lengths are those of section 4.5.3.1, in octets of UTF-8: 64 for the local part, 254 for the address (a path has 256
with its angle brackets), 63 for a label. An address literal is IPv4, or IPv6 after its tag; no other tag is registered.

`email` is exact. `idn-email` is narrower than the standard, since an exact count of octets would multiply the states:

- the local part fits one of `_TIERS`, each of which counts every character beyond ASCII as wide as the tier's widest;
- a quoted local part fits one of `_QUOTED_TIERS`, each of which counts every item as wide as the tier's widest;
- the domain has at most 189 octets, so that the address has 254 with any local part. A name of `idna` has at most 149:
  three labels of 40 ASCII characters and three of three octets each, and two dots.
"""

from __future__ import annotations

from typing import Final

from engine.grammar import Choice, Node, Sequence
from engine.notations.json_schema.formats.addresses import IPV4, IPV6
from engine.notations.json_schema.formats.pattern_nodes import matching

MOST_LOCAL: Final = 64
MOST_IN_ADDRESS: Final = 254
_MOST_IN_DOMAIN = MOST_IN_ADDRESS - MOST_LOCAL - 1

ATOM = r"A-Za-z0-9!\#$%&'*+\-/=?\^_`{|}~"
LITERAL = rf"\[(?:{IPV4}|[Ii][Pp][Vv]6:{IPV6})\]"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL})*"

_OF_TWO_OCTETS = "\\u0080-\\u07FF"
_OF_THREE_OCTETS = "\\u0080-\\uD7FF\\uE000-\\uFFFF"
_OF_FOUR_OCTETS = "\\u0080-\\uD7FF\\uE000-\\U0010FFFF"
_TIERS = (
    (_OF_TWO_OCTETS, 2, (4, 8, 16, 32)),
    (_OF_THREE_OCTETS, 3, (4, 8, 12, 21)),
    (_OF_FOUR_OCTETS, 4, (2, 4, 8, 16)),
)
"""Characters beyond ASCII, the octets of the widest, and the possible limits for their number in a local part."""

QUOTED = r" !\#-\[\]-~"
ESCAPED = r"\\[ -~]"
_WITHIN = MOST_LOCAL - 2
_QUOTED_TIERS = (
    rf"[{QUOTED}]{{0,{_WITHIN}}}",
    rf"(?:[{QUOTED}{_OF_TWO_OCTETS}]|{ESCAPED}){{0,{_WITHIN // 2}}}",
    rf"(?:[{QUOTED}{_OF_THREE_OCTETS}]|{ESCAPED}){{0,{_WITHIN // 3}}}",
    rf"(?:[{QUOTED}{_OF_FOUR_OCTETS}]|{ESCAPED}){{0,{_WITHIN // 4}}}",
)

# No domain contains a quote, so the last one ends the local part.
_QUOTED_LOCAL = rf'(?=.{{1,{MOST_LOCAL - 1}}}"@[^"]*\Z)"(?:[{QUOTED}]|{ESCAPED})*"'
OUTER_IDN_EMAIL = r"(?s).+@[^@]+"


def email() -> Node:
    """Return the ASCII mailboxes."""
    local = rf"(?:(?=[^@]{{1,{MOST_LOCAL}}}@){_atoms('')}|{_QUOTED_LOCAL})"
    return matching(rf"(?=.{{1,{MOST_IN_ADDRESS}}}\Z){local}@(?:{_NAME}|{LITERAL})")


def idn_email() -> Node:
    """Return the mailboxes with characters beyond ASCII on either side.

    Labels are those of `idna`, but in any normal form: the test suite has a valid one that is not in form C.
    """
    from engine.notations.json_schema.formats.idna import name

    tiers = [f"(?=[^@]{{1,{MOST_LOCAL}}}@){_atoms('')}"]
    for beyond, width, counts in _TIERS:
        fits = "|".join(
            f"(?=(?:[^@{beyond}]*[{beyond}]){{0,{count}}}[^@{beyond}]*@)[^@]{{1,{MOST_LOCAL - (width - 1) * count}}}@"
            for count in counts
        )
        tiers.append(f"(?={fits}){_atoms(beyond)}")
    quoted = "|".join(_QUOTED_TIERS)
    local = matching(rf'(?:{"|".join(tiers)}|"(?:{quoted})")@')
    domain = matching(rf"(?:(?=.{{1,{_MOST_IN_DOMAIN}}}\Z){_NAME}|{LITERAL})")
    return Sequence((local, Choice((domain, name(dots=".", normal=False)))))


def _atoms(beyond: str) -> str:
    atom = rf"[{ATOM}{beyond}]+"
    return rf"{atom}(?:\.{atom})*"
