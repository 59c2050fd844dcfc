"""IP addresses as written in RFC 3986, and UUIDs.

An IPv4 part has no leading zeros, since some software reads them as octal. An IPv6 address has no zone; `::` stands for
one group or more. UUIDs: RFC 4122, any version.
"""

from __future__ import annotations

from engine.notations.json_schema.formats.pattern_nodes import one_of

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
