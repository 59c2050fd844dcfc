"""JSON Pointers and their steps (RFC 6901, section 3): `~` is written `~0`, and `/` is written `~1`."""

from __future__ import annotations

from typing import Any, Final

NAMED_SUBSCHEMAS: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Keywords of JSON Schema with a subschema for each name: the next step of a pointer is a name, not a keyword."""


def escape_step(name: str) -> str:
    """Return a key as a step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape_step(step: str) -> str:
    """Return the key of a step of a JSON Pointer."""
    return step.replace("~1", "/").replace("~0", "~")


def resolve_pointer(root: Any, pointer: str, default: Any = None) -> Any:
    """Return the part of a JSON value at a JSON Pointer.

    Args:
        root: the value, as JSON data.
        pointer: the pointer; empty for the whole value.
        default: returned if there is no such part.
    """
    here = root
    for step in pointer.split("/")[1:]:
        name = unescape_step(step)
        if isinstance(here, dict) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            return default
    return here
