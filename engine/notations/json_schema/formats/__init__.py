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

Of those in `OUTER` the language is narrower than the standard's, which no automaton holds; so what it lacks is not yet
what the format excludes. `outer_node` gives a wider one, which serves where a format is negated.
"""

from __future__ import annotations

from engine.notations.json_schema.formats.registry import NAMES, OUTER, format_node, outer_node

__all__ = ["NAMES", "OUTER", "format_node", "outer_node"]
