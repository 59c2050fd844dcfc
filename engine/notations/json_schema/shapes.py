"""Advice for a JSON text without any JSON Schema keyword.

A request to a server, a tool definition or a plain value is legal as a schema: all its members are annotations, and it
allows every value. This is never intended, so the finding names the embedded schema, if there is one.
"""

from __future__ import annotations

from typing import Final

from engine.notations.json_schema.json_tree import Json
from engine.notations.json_schema.keyword_suggestions import is_annotation, similar_word

_MOST_LOOKED_AT: Final = 1_000
_TYPES: Final = frozenset(("null", "boolean", "number", "integer", "string", "array", "object"))
_OF_OBJECTS: Final = ("properties", "$defs", "definitions", "patternProperties")
_OF_LISTS: Final = ("anyOf", "oneOf", "allOf", "enum", "required")
_OF_TEXTS: Final = ("$ref", "pattern")


def embedded_schema(node: Json) -> Json | None:
    """Return the schema nearest to the top of a value, the value itself excluded; None if there is none."""
    todo, looked_at = [node], 0
    while todo and looked_at < _MOST_LOOKED_AT:
        below: list[Json] = []
        for part in todo:
            for inner in part.members.values() or part.items:
                looked_at += 1
                if looked_at > _MOST_LOOKED_AT:
                    break
                if _is_schema(inner):
                    return inner
                below.append(inner)
        todo = below
    return None


def advice_for(node: Json) -> str:
    """Return advice for a schema without any keyword."""
    for name in node.members:
        meant = None if is_annotation(name) else similar_word(name)
        if meant is not None:
            return f"Did you mean {meant} where it says {name}?"
    inner = embedded_schema(node)
    if inner is None:
        return "A schema has keywords such as type, properties or enum; write true to allow any value"
    if inner.pointer.count("/") == node.pointer.count("/") + 1 and all(map(_is_schema, node.members.values())):
        return 'It looks like the value of properties; put it under {"type": "object", "properties": …}'
    return f"It looks like a request or a document with a schema inside; use the part at {inner.pointer} alone"


def _is_schema(node: Json) -> bool:
    """Return whether an object has a keyword with a suitable value."""
    members = node.members
    named = members.get("type")
    if named is not None and isinstance(named.value, str) and named.value in _TYPES:
        return True
    return (
        any(name in members and isinstance(members[name].value, dict) for name in _OF_OBJECTS)
        or any(name in members and isinstance(members[name].value, list) for name in _OF_LISTS)
        or any(name in members and isinstance(members[name].value, str) for name in _OF_TEXTS)
    )
