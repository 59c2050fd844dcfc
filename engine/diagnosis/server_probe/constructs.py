"""Constructs of JSON Schema that engines often do not support, and what a server does with a schema that has one.

Each is put beside the canary, in a property of the same object. So one answer shows whether there is a mask at all:
with a mask, it begins with the canary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.diagnosis.failures.schema_check import parts_of
from engine.diagnosis.server_probe.canary import CANARY_INSTANCE, CANARY_SCHEMA
from engine.source.json_pointer import resolve_pointer

_TYPES: Final = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))


@dataclass(frozen=True, slots=True)
class Construct:
    """A construct.

    Attributes:
        name: its name.
        schema: a schema that has it.
        invalid: a value that it excludes; for a schema without a meaning, any value.
        valid: a value that it allows; None if the schema has no meaning.
    """

    name: str
    schema: Mapping[str, Any]
    invalid: Any
    valid: Any = None

    @property
    def whole(self) -> dict[str, Any]:
        """Return the schema of an object with the canary and the construct."""
        properties = {**CANARY_SCHEMA["properties"], "b": self.schema}  # type: ignore[dict-item]
        return {**CANARY_SCHEMA, "properties": properties, "required": ["a", "b"]}

    @property
    def invalid_text(self) -> str:
        """Return an instance that the construct excludes."""
        return _compact({**CANARY_INSTANCE, "b": self.invalid})

    @property
    def valid_text(self) -> str:
        """Return an instance that the construct allows; empty if the schema has no meaning."""
        return "" if self.valid is None else _compact({**CANARY_INSTANCE, "b": self.valid})


CONSTRUCTS: Final = (
    Construct("not", {"not": {"type": "string"}}, "x", 3),
    Construct("look-ahead", {"type": "string", "pattern": "^(?=a)[a-z]+$"}, "bc", "ab"),
    Construct("look-behind", {"type": "string", "pattern": "^[ab](?<=a)c$"}, "bc", "ac"),
    Construct("word-boundary", {"type": "string", "pattern": "^\\bfoo\\b$"}, "fo", "foo"),
    Construct("dangling-ref", {"$ref": "#/$defs/missing"}, "x"),
    Construct("unknown-type", {"type": "wibble"}, "x"),
)
_PATTERNS: Final = {
    "look-ahead": re.compile(r"\(\?[=!]"),
    "look-behind": re.compile(r"\(\?<[=!]"),
    "word-boundary": re.compile(r"(?<!\\)(?:\\\\)*\\[bB]"),
}


def begins_canary(text: str) -> bool:
    """Return whether a text is an object that begins with the canary."""
    return "".join(text.split()).startswith(_compact(CANARY_INSTANCE)[:-1])


def constructs_of(schema: Any) -> frozenset[str]:
    """Return the names of the constructs that a schema has; a property with such a name counts, too."""
    found = set()
    for _, part in parts_of(schema):
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("not"), dict | bool):
            found.add("not")
        pattern = part.get("pattern")
        if isinstance(pattern, str):
            found |= {name for name, expression in _PATTERNS.items() if expression.search(pattern)}
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/") and resolve_pointer(schema, reference[1:]) is None:
            found.add("dangling-ref")
        declared = part.get("type")
        names = [declared] if isinstance(declared, str) else declared if isinstance(declared, list) else []
        if any(isinstance(name, str) and name not in _TYPES for name in names):
            found.add("unknown-type")
    return frozenset(found)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
