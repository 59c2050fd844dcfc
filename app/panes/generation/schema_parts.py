"""The named parts of a JSON Schema, as goals of a run.

A part is named by its JSON Pointer, as in the goal of a run. The root is left out: it ends when the text ends. The
order is that of the text.
"""

from __future__ import annotations

import json
from typing import Any, Final

from engine.source.json_pointer import escape_step

LONGEST = 30_000
"""The longest schema in code points; a longer one would block the window, and its parts can be typed."""
MOST_PARTS = 200

_NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions"))
_LISTED: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_SINGLE: Final = frozenset(("items", "additionalProperties", "contains"))


def schema_parts(text: str) -> tuple[str, ...]:
    """Return the pointers of the subschemas of a schema; none if the text is too long or no JSON."""
    try:
        root = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        return ()
    found: list[str] = []
    pending = [("", root)]
    while pending and len(found) <= MOST_PARTS:
        pointer, schema = pending.pop()
        found.append(pointer)
        pending += reversed(_subschemas(pointer, schema))
    return tuple(found[1 : MOST_PARTS + 1])


def _subschemas(pointer: str, schema: Any) -> list[tuple[str, Any]]:
    """Return the direct subschemas of a schema."""
    parts: list[tuple[str, Any]] = []
    for key, value in schema.items() if isinstance(schema, dict) else ():
        if key in _NAMED and isinstance(value, dict):
            parts += ((f"{pointer}/{key}/{escape_step(name)}", part) for name, part in value.items())
        elif isinstance(value, list) and (key in _LISTED or key == "items"):
            parts += ((f"{pointer}/{key}/{index}", part) for index, part in enumerate(value))
        elif key in _SINGLE and isinstance(value, dict):
            parts.append((f"{pointer}/{key}", value))
    return parts
