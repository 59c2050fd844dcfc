"""Addresses: of hosts, names of hosts, mailboxes, URIs; and UUIDs and JSON Pointers.

**IP addresses** as written in RFC 3986. An IPv4 part has no leading zeros, since some software reads them as octal. An
IPv6 address has no zone; `::` represents one group or more. UUIDs: RFC 4122, any version.

**Host names**: RFC 1123, section 2.1, and internationalized ones of RFC 5890 to 5893. A label with hyphens as its third
and fourth character is reserved (RFC 5890, section 2.3.1) and refused here. These include A-labels, `xn--…`, which are
host names as well, but decoding their Punycode (RFC 3492) is not possible with an automaton: the lexer of names checks
the text of each (`engine.schema_automaton.lexing.host_name_lexer`, and `string_languages.a_labels`, which lists the
exceptions). This applies if the format is the only constraint of a string. With another constraint on the same string
(a length other than that of names, a pattern, an alternative of `anyOf`, items before it that it must differ from), and
for keys, the language below is complete, and A-labels are refused. A negated format uses `OUTER_HOSTNAME`, and an
A-label does not match it either.

**Mailboxes** of RFC 5321, section 4.1.2, and of RFC 6531, which allows characters beyond ASCII. The lengths are those
of section 4.5.3.1, in octets of UTF-8: 64 for the local part, 254 for the address (a path has 256 with its angle
brackets), 63 for a label. An address literal is IPv4, or IPv6 after its tag; no other tag is registered. `email` is
exact. `idn-email` is narrower than the standard, since an exact count of octets would multiply the states:

- the local part fits one of `_TIERS`, each of which counts every character beyond ASCII as wide as the tier's widest;
- a quoted local part fits one of `_QUOTED_TIERS`, each of which counts every item as wide as the tier's widest;
- the domain has at most 189 octets, so that the address has 254 with any local part. A name of `idna` has at most 149:
  three labels of 40 ASCII characters and three of three octets each, and two dots.

**URIs** (RFC 3986), IRIs (RFC 3987), URI templates (RFC 6570) and JSON Pointers (RFC 6901), transcribed production by
production. In a template the operators that RFC 6570 reserves for the future (`= , ! @ |`) are excluded, and `'` is a
literal, as its erratum says. A relative JSON Pointer has no index manipulation, which is newer than the drafts that
define the format.
"""

from __future__ import annotations

from typing import Final

from engine.grammar import Choice, Node, Sequence
from engine.notations.json_schema.formats.pattern_nodes import matching, one_of

_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = rf"(?:{_BYTE}\.){{3}}{_BYTE}"

_GROUP = r"[0-9A-Fa-f]{1,4}"
_LAST = rf"(?:{_GROUP}:{_GROUP}|{IPV4})"


def _ipv6() -> str:
    """Return a pattern of eight groups, or fewer around one `::`; the last two may be an IPv4 address."""
    forms = [rf"(?:{_GROUP}:){{6}}{_LAST}", rf"::(?:{_GROUP}:){{5}}{_LAST}"]
    for behind in range(4, -1, -1):
        before = rf"(?:(?:{_GROUP}:){{0,{4 - behind}}}{_GROUP})?"
        forms.append(rf"{before}::(?:{_GROUP}:){{{behind}}}{_LAST}")
    forms.append(rf"(?:(?:{_GROUP}:){{0,5}}{_GROUP})?::{_GROUP}")
    forms.append(rf"(?:(?:{_GROUP}:){{0,6}}{_GROUP})?::")
    return one_of(forms)


IPV6 = _ipv6()

UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"


# ---------------------------------------------------------------------- host names

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
    from engine.notations.json_schema.formats.idna import DOTS, name  # its tables take time to load

    return Choice((matching(_ascii_name(f"[{DOTS}]")), name(DOTS)))


def _ascii_name(dot: str) -> str:
    return rf"(?=.{{1,{MOST_CHARACTERS}}}\Z){LABEL}(?:{dot}{LABEL})*"


# ---------------------------------------------------------------------- mailboxes

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
    from engine.notations.json_schema.formats.idna import name  # its tables take time to load

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


# ---------------------------------------------------------------------- URIs and JSON Pointers

_ENCODED = r"%[0-9A-Fa-f]{2}"
_UCS = (
    "\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF"
    + "".join(f"\\U000{plane:X}0000-\\U000{plane:X}FFFD" for plane in range(1, 14))
    + "\\U000E1000-\\U000EFFFD"
)
_PRIVATE = "\\uE000-\\uF8FF\\U000F0000-\\U000FFFFD\\U00100000-\\U0010FFFD"
_DELIMITERS = r"!$&'()*+,;="
_UNRESERVED = r"A-Za-z0-9\-._~"


def _reference(*, beyond: str, private: str, absolute: bool) -> str:
    """Return an identifier with a scheme, or also a relative one.

    Args:
        beyond: the allowed characters beyond ASCII.
        private: the private characters allowed in a query.
        absolute: whether the scheme is required.
    """
    plain = f"{_UNRESERVED}{beyond}{_DELIMITERS}"
    character = rf"(?:[{plain}:@]|{_ENCODED})"
    literal = rf"\[(?:{IPV6}|[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_DELIMITERS}:]+)\]"
    # A registered name; it includes IPv4 addresses.
    host = rf"(?:{literal}|(?:[{plain}]|{_ENCODED})*)"
    authority = rf"(?:(?:[{plain}:]|{_ENCODED})*@)?{host}(?::\d*)?"
    rest = rf"(?:/{character}*)*"
    rooted = rf"/(?:{character}+{rest})?"
    tail = rf"(?:\?(?:[{plain}:@/?{private}]|{_ENCODED})*)?(?:\#(?:[{plain}:@/?]|{_ENCODED})*)?"
    with_scheme = rf"[A-Za-z][A-Za-z0-9+.\-]*:(?://{authority}{rest}|{rooted}|{character}+{rest}|){tail}"
    if absolute:
        return with_scheme
    no_colon = rf"(?:[{plain}@]|{_ENCODED})+{rest}"
    return rf"(?:{with_scheme}|(?://{authority}{rest}|{rooted}|{no_colon}|){tail})"


URI = _reference(beyond="", private="", absolute=True)
URI_REFERENCE = _reference(beyond="", private="", absolute=False)
IRI = _reference(beyond=_UCS, private=_PRIVATE, absolute=True)
IRI_REFERENCE = _reference(beyond=_UCS, private=_PRIVATE, absolute=False)

_VARIABLE_CHARACTER = rf"(?:[A-Za-z0-9_]|{_ENCODED})"
_VARIABLE = rf"{_VARIABLE_CHARACTER}(?:\.?{_VARIABLE_CHARACTER})*(?::[1-9]\d{{0,3}}|\*)?"
_LITERAL = rf"(?:[!\#$&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~{_UCS}{_PRIVATE}]|{_ENCODED})"
URI_TEMPLATE = rf"(?:{_LITERAL}|\{{[+\#./;?&]?{_VARIABLE}(?:,{_VARIABLE})*\}})*"

JSON_POINTER = r"(?:/(?:[^~/]|~[01])*)*"
RELATIVE_JSON_POINTER = rf"(?:0|[1-9]\d*)(?:\#|{JSON_POINTER})"
