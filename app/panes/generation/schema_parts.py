"""The parts of a JSON Schema that have a name: what a run may be told to leave.

A part is named by its JSON Pointer, as a run's goal takes it. The root is left out: it
is over when the text is. In order of the text, as a reader looks for them.
"""

from __future__ import annotations

import json
from typing import Any, Final

LONGEST = 30_000
"""Code points of a schema; in a longer one the window would wait, and its parts can be typed."""
MOST_PARTS = 200

_NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions"))
_LISTED: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_SINGLE: Final = frozenset(("items", "additionalProperties", "contains"))


def schema_parts(text: str) -> tuple[str, ...]:
    """The pointers of the subschemas of a schema; none of a text that is too long, or is no JSON."""
    try:
        root = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        return ()
    found: list[str] = []
    todo = [("", root)]
    while todo and len(found) <= MOST_PARTS:
        pointer, schema = todo.pop()
        found.append(pointer)
        todo += reversed(_below(pointer, schema))
    return tuple(found[1 : MOST_PARTS + 1])


def _below(pointer: str, schema: Any) -> list[tuple[str, Any]]:
    """The subschemas right within one."""
    below: list[tuple[str, Any]] = []
    for key, value in schema.items() if isinstance(schema, dict) else ():
        if key in _NAMED and isinstance(value, dict):
            below += ((f"{pointer}/{key}/{_escaped(name)}", part) for name, part in value.items())
        elif isinstance(value, list) and (key in _LISTED or key == "items"):
            below += ((f"{pointer}/{key}/{index}", part) for index, part in enumerate(value))
        elif key in _SINGLE and isinstance(value, dict):
            below.append((f"{pointer}/{key}", value))
    return below


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
