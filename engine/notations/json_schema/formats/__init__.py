"""The languages of string formats, as grammar nodes over characters.

`format_node` builds only the named format. A format from a later draft is asserted under an earlier `$schema` too,
since the author intends it. Each format is built at its first use.

| format | language |
|---|---|
| `date` `time` `date-time` `duration` | RFC 3339, leap years and leap seconds decided (`times`) |
| `ipv4` `ipv6` `uuid` `json-pointer` `relative-json-pointer` | `addresses` |
| `uri` `uri-reference` `iri` `iri-reference` `uri-template` | `addresses` |
| `email` `idn-email` | RFC 5321 and RFC 6531 mailboxes (`addresses`) |
| `hostname` `idn-hostname` | RFC 1123 and IDNA (`addresses`, `idna`) |
| `regex` | ECMAScript patterns, nested to a bounded depth (`patterns`) |

The languages of the formats in `OUTER` are narrower than the standard's, which is not regular; so a string outside of
one may still have the format. `outer_node` returns a wider language, which is used where a format is negated.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from engine.grammar import Node
from engine.notations.json_schema.formats.pattern_nodes import matching
from engine.source import counted_cache

# The module, and the constant with the format's pattern or the function that builds its node.
_LOCATIONS: Final[dict[str, tuple[str, str]]] = {
    "date": ("times", "DATE"),
    "time": ("times", "TIME"),
    "date-time": ("times", "DATE_TIME"),
    "duration": ("times", "DURATION"),
    "ipv4": ("addresses", "IPV4"),
    "ipv6": ("addresses", "IPV6"),
    "uuid": ("addresses", "UUID"),
    "uri": ("addresses", "URI"),
    "uri-reference": ("addresses", "URI_REFERENCE"),
    "iri": ("addresses", "IRI"),
    "iri-reference": ("addresses", "IRI_REFERENCE"),
    "uri-template": ("addresses", "URI_TEMPLATE"),
    "json-pointer": ("addresses", "JSON_POINTER"),
    "relative-json-pointer": ("addresses", "RELATIVE_JSON_POINTER"),
    "email": ("addresses", "email"),
    "idn-email": ("addresses", "idn_email"),
    "hostname": ("addresses", "hostname"),
    "idn-hostname": ("addresses", "idn_hostname"),
    "regex": ("patterns", "pattern"),
}

NAMES: Final = frozenset(_LOCATIONS)
"""The formats that are asserted."""

OUTER: Final[dict[str, tuple[str, str]]] = {
    "hostname": ("addresses", "OUTER_HOSTNAME"),
    "idn-hostname": ("addresses", "OUTER_IDN_HOSTNAME"),
    "idn-email": ("addresses", "OUTER_IDN_EMAIL"),
    "regex": ("patterns", "OUTER_PATTERN"),
}
"""The formats that are narrower here than in the standard, and the location of their wider languages."""


def format_node(name: str) -> Node | None:
    """Return the strings of a format, the same in all drafts; None if it is unknown and so an annotation."""
    return _build(*_LOCATIONS[name]) if name in _LOCATIONS else None


def outer_node(name: str) -> Node:
    """Return a superset of the strings of a format in `OUTER`."""
    return _build(*OUTER[name])


@counted_cache()
def _build(module: str, attribute: str) -> Node:
    found: str | Callable[[], Node] = getattr(
        import_module(f"engine.notations.json_schema.formats.{module}"), attribute
    )
    return matching(found) if isinstance(found, str) else found()
