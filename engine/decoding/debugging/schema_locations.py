"""The subschemas that apply to a value of a JSON text.

The path to a value is known from the bytes alone (`engine.source.json_scanner`). The subschemas that apply to it are
found by following the same path through the schema, references included. Every subschema that may apply is included:
for `anyOf`, each alternative. So a breakpoint on a part of a schema concerns values, and stops where one begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from engine.source.json_scanner import JsonPath

MOST_PLACES: Final = 64
"""The largest number of subschemas that are listed for one value."""

_APPLICATOR_LISTS: Final = ("allOf", "anyOf", "oneOf")
_APPLICATORS: Final = ("if", "then", "else", "not")


class SchemaLocations:
    """The subschemas that apply to a value, by their JSON Pointers."""

    def __init__(self, text: str) -> None:
        self._root: Any = json.loads(text)
        self._known: dict[JsonPath, tuple[str, ...]] = {(): self._with_applicators([""])}

    def of(self, path: JsonPath) -> tuple[str, ...]:
        """Return the pointers of all subschemas that apply to the value on a path; the root's pointer is empty."""
        known = self._known.get(path)
        if known is None:
            above = self.of(path[:-1])
            below = [child for pointer in above for child in self._below(pointer, path[-1])]
            known = self._known[path] = self._with_applicators(below)
        return known

    def _with_applicators(self, pointers: list[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        todo = list(reversed(pointers))
        while todo and len(found) < MOST_PLACES:
            pointer = todo.pop()
            if pointer in found:
                continue
            found[pointer] = None
            schema = self._at(pointer)
            if not isinstance(schema, dict):
                continue
            more = [target for key in ("$ref", "$dynamicRef") for target in self._target(schema.get(key))]
            for key in _APPLICATOR_LISTS:
                parts = schema.get(key)
                more += [f"{pointer}/{key}/{i}" for i in range(len(parts))] if isinstance(parts, list) else []
            more += [f"{pointer}/{key}" for key in _APPLICATORS if key in schema]
            todo += reversed(more)
        return tuple(found)

    def _below(self, pointer: str, step: str | int) -> Iterator[str]:
        schema = self._at(pointer)
        if not isinstance(schema, dict):
            return
        if isinstance(step, int):
            yield from _items(schema, pointer, step)
            return
        declared = False
        if isinstance(properties := schema.get("properties"), dict) and step in properties:
            declared = True
            yield f"{pointer}/properties/{_escaped(step)}"
        for pattern in schema.get("patternProperties") or ():
            if _matches(pattern, step):
                declared = True
                yield f"{pointer}/patternProperties/{_escaped(pattern)}"
        for key in ("additionalProperties", "unevaluatedProperties"):
            if not declared and isinstance(schema.get(key), dict):
                yield f"{pointer}/{key}"

    def _target(self, reference: object) -> list[str]:
        """Return the pointer that a local reference resolves to; empty for references to other addresses."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return []
        fragment = unquote(reference[1:])
        if not fragment or fragment.startswith("/"):
            return [fragment]
        return [found for found in (_anchored(self._root, fragment),) if found is not None]

    def _at(self, pointer: str) -> Any:
        value = self._root
        for part in pointer.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict):
                value = value.get(name)
            elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return value


def _items(schema: dict[str, Any], pointer: str, index: int) -> Iterator[str]:
    first = schema.get("prefixItems", schema.get("items") if isinstance(schema.get("items"), list) else None)
    listed = len(first) if isinstance(first, list) else 0
    if index < listed:
        yield f"{pointer}/{'prefixItems' if 'prefixItems' in schema else 'items'}/{index}"
        return
    for key in ("items", "additionalItems", "unevaluatedItems"):
        if isinstance(schema.get(key), dict):
            yield f"{pointer}/{key}"
            break
    if isinstance(schema.get("contains"), dict):
        yield f"{pointer}/contains"


def _anchored(value: Any, anchor: str) -> str | None:
    todo: list[tuple[Any, str]] = [(value, "")]
    while todo:
        part, pointer = todo.pop()
        if isinstance(part, dict):
            if anchor in (part.get("$anchor"), part.get("$dynamicAnchor")):
                return pointer
            todo += [(member, f"{pointer}/{_escaped(name)}") for name, member in part.items()]
        elif isinstance(part, list):
            todo += [(item, f"{pointer}/{i}") for i, item in enumerate(part)]
    return None


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _matches(pattern: object, name: str) -> bool:
    # Python's dialect approximates ECMAScript's here: at worst a subschema is not listed.
    try:
        return isinstance(pattern, str) and re.search(pattern, name) is not None
    except re.error:
        return False
