"""Mailboxes of RFC 5321, section 4.1.2, and of RFC 6531, which lets characters beyond ASCII in.

The local part is held to 64 characters and the domain to 255 (section 4.5.3.1),
a label to 63. An address literal is IPv4, or IPv6 behind its tag; no other tag
is registered.
"""

from __future__ import annotations

from engine.grammar import Choice, Node, Sequence
from engine.notations.json_schema.formats.addresses import IPV4, IPV6
from engine.notations.json_schema.formats.texts import matching

_ATOM = r"A-Za-z0-9!\#$%&'*+\-/=?\^_`{|}~"
_LITERAL = rf"\[(?:{IPV4}|[Ii][Pp][Vv]6:{IPV6})\]"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
_BEYOND_ASCII = "\\u0080-\\uD7FF\\uE000-\\U0010FFFF"


def _local_part(beyond: str) -> str:
    atom = rf"[{_ATOM}{beyond}]+"
    quoted = rf'"(?:[ !\#-\[\]-~{beyond}]|\\[ -~])*"'
    return rf"(?=[^@]{{1,64}}@|\"(?:[^\"\\]|\\.){{0,62}}\"@)(?:{atom}(?:\.{atom})*|{quoted})@"


_DOMAIN = rf"(?:(?=.{{1,255}}\Z){_LABEL}(?:\.{_LABEL})*|{_LITERAL})"


def email() -> Node:
    """An ASCII mailbox."""
    return matching(_local_part("") + _DOMAIN)


def idn_email() -> Node:
    """A mailbox with characters beyond ASCII on either side.

    Its labels are those of `idna`, but in any normal form: the test suite has a valid one that is not in form C.
    """
    from engine.notations.json_schema.formats.idna import name

    return Sequence((matching(_local_part(_BEYOND_ASCII)), Choice((matching(_DOMAIN), name(dots=".", normal=False)))))
