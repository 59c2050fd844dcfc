"""The languages of string formats, as grammar nodes over characters.

`format_node` builds only the named format. A format from a later draft is asserted under an earlier `$schema` too,
since the author intends it.

| format | language |
|---|---|
| `date` `time` `date-time` `duration` | RFC 3339, leap years and leap seconds decided (`times`) |
| `ipv4` `ipv6` `uuid` | `addresses` |
| `uri` `uri-reference` `iri` `iri-reference` `uri-template` | `uris` |
| `json-pointer` `relative-json-pointer` | `uris` |
| `email` `idn-email` | RFC 5321 and RFC 6531 mailboxes (`mail`) |
| `hostname` `idn-hostname` | `hosts` |
| `regex` | ECMAScript patterns, nested to a bounded depth (`patterns`) |

The languages of the formats in `OUTER` are narrower than the standard's, which is not regular; so a string outside of
one may still have the format. `outer_node` returns a wider language, which is used where a format is negated.
"""

from __future__ import annotations

from engine.notations.json_schema.formats.registry import NAMES, OUTER, format_node, outer_node

__all__ = ["NAMES", "OUTER", "format_node", "outer_node"]
