"""Mailboxes of RFC 5321, section 4.1.2, and of RFC 6531, which lets characters beyond ASCII in.

The local part is held to 64 characters and the domain to 255 (section 4.5.3.1),
a label to 63. An address literal is IPv4, or IPv6 behind its tag; no other tag
is registered.
"""

from __future__ import annotations

from typing import Final

from engine.grammar import Choice, Node, Sequence
from engine.notations.json_schema.formats.addresses import IPV4, IPV6
from engine.notations.json_schema.formats.texts import matching

MOST_LOCAL: Final = 64
MOST_IN_DOMAIN: Final = 255

ATOM = r"A-Za-z0-9!\#$%&'*+\-/=?\^_`{|}~"
LITERAL = rf"\[(?:{IPV4}|[Ii][Pp][Vv]6:{IPV6})\]"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
_BEYOND_ASCII = "\\u0080-\\uD7FF\\uE000-\\U0010FFFF"


QUOTED = r" !\#-\[\]-~"
ESCAPED = r"\\[ -~]"


def _atoms(beyond: str) -> str:
    atom = rf"[{ATOM}{beyond}]+"
    return rf"(?=[^@]{{1,{MOST_LOCAL}}}@){atom}(?:\.{atom})*"


# No domain has a quote, so the last one ends the local part.
_QUOTED_LOCAL = rf'(?=.{{1,{MOST_LOCAL - 1}}}"@[^"]*\Z)"(?:[{QUOTED}]|{ESCAPED})*"'
_WITHIN = MOST_LOCAL - 2


_DOMAIN = rf"(?:(?=.{{1,{MOST_IN_DOMAIN}}}\Z){_LABEL}(?:\.{_LABEL})*|{LITERAL})"
OUTER_IDN_EMAIL = r"(?s).+@[^@]+"


def email() -> Node:
    """An ASCII mailbox."""
    return matching(f"(?:{_atoms('')}|{_QUOTED_LOCAL})@{_DOMAIN}")


def idn_email() -> Node:
    """A mailbox with characters beyond ASCII on either side.

    Its labels are those of `idna`, but in any normal form: the test suite has a valid one that is not in form C. A
    quoted local part with an escape has at most half as many items as characters: to count on to the quote, whatever
    the domain still is, would take long.
    """
    from engine.notations.json_schema.formats.idna import name

    plain = rf"[{QUOTED}{_BEYOND_ASCII}]"
    quoted = rf'"(?:{plain}{{0,{_WITHIN}}}|(?:{plain}|{ESCAPED}){{0,{_WITHIN // 2}}})"'
    local = matching(f"(?:{_atoms(_BEYOND_ASCII)}|{quoted})@")
    return Sequence((local, Choice((matching(_DOMAIN), name(dots=".", normal=False)))))
