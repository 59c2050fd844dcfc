"""What a string of a format may be, as grammar nodes over its characters.

`format_node` answers for one name and builds nothing else. A format that a
later draft brought is asserted under an earlier `$schema` too: whoever wrote it
there meant it.

| format | language |
|---|---|
| `date` `time` `date-time` `duration` | RFC 3339, leap years and leap seconds decided (`times`) |
| `ipv4` `ipv6` `uuid` | `addresses` |
| `uri` `uri-reference` `iri` `iri-reference` `uri-template` | `uris` |
| `json-pointer` `relative-json-pointer` | `uris` |
| `email` `idn-email` | RFC 5321 and RFC 6531 mailboxes (`mail`) |
| `hostname` `idn-hostname` | `hosts` |
| `regex` | ECMAScript patterns, nested to a bounded depth (`patterns`) |
"""

from __future__ import annotations

from engine.notations.json_schema.formats.registry import NAMES, format_node

__all__ = ["NAMES", "format_node"]
