"""A schema from JSON values: types, properties, what is required, values that recur, and formats.

Keywords of a schema restrict values of their own type alone, so one schema describes values of several types. Objects
are closed; the order of their properties is one in which the samples have them, if there is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.inference.samples import recurs
from engine.source import checkpoint

_FORMATS: Final = {
    "date-time": re.compile(r"\d{4}-.*:"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "time": re.compile(r"\d\d:\d\d:"),
    "uuid": re.compile(r"[0-9A-Fa-f]{8}-"),
    "ipv4": re.compile(r"\d+\.\d+\.\d+\.\d+"),
    "ipv6": re.compile(r"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*"),
    "email": re.compile(r"[^@]+@[^@]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+"),
}
"""The formats that are recognised, the most specific first, each with the beginning of its strings."""
_MOST_COMPARED: Final = 2_000  # distinct strings; with more, no format and no value is looked for
_LEAST_OBJECTS, _LEAST_KEYS = 4, 8  # from which keys may be data


@dataclass(slots=True)
class _Values:
    """All values at one place of the samples."""

    count: int = 0
    types: dict[str, int] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)
    items: _Values | None = None
    members: dict[str, _Values] = field(default_factory=dict)
    followers: dict[str, dict[str, None]] = field(default_factory=dict)  # by a key, the keys right after it

    def add(self, value: Any, times: int) -> None:
        """Add a value that occurs that often."""
        checkpoint()
        self.count += times
        kind = _type_of(value)
        self.types[kind] = self.types.get(kind, 0) + times
        if kind == "string" and len(self.strings) <= _MOST_COMPARED:
            self.strings[value] = self.strings.get(value, 0) + times
        elif kind == "array":
            self.items = self.items or _Values()
            for item in value:
                self.items.add(item, times)
        elif kind == "object":
            before = None
            for key, member in value.items():
                self.members.setdefault(key, _Values()).add(member, times)
                self.followers.setdefault(key, {})
                if before is not None:
                    self.followers[before][key] = None
                before = key


def schema_of(values: Iterable[tuple[Any, int]]) -> tuple[dict[str, Any], bool]:
    """Return a schema that accepts every value.

    Args:
        values: the values, and how often each occurs.

    Returns:
        The schema, and whether the samples have their properties in one order.
    """
    found = _Values()
    for value, times in values:
        found.add(value, times)
    writer = _Writer()
    schema = writer.schema(found)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, writer.has_order


class _Writer:
    """The writer of one schema.

    Attributes:
        has_order: whether all objects have their properties in one order.
    """

    def __init__(self) -> None:
        self.has_order = True

    def schema(self, found: _Values) -> dict[str, Any]:
        """Return the schema of the values at a place."""
        types = [kind for kind in found.types if not (kind == "integer" and "number" in found.types)]
        is_listed = "string" in types and {*types} <= {"string", "null"} and recurs(found.strings)
        if is_listed and len(found.strings) <= _MOST_COMPARED:
            values = [*found.strings, *([None] if "null" in types else [])]
            return {"const": values[0]} if len(values) == 1 else {"enum": values}
        schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
        if "string" in types and (name := self._format(found.strings)):
            schema["format"] = name
        if "array" in types and found.items is not None and found.items.count:
            schema["items"] = self.schema(found.items)
        if "object" in types:
            schema |= self._object(found)
        return schema

    def _object(self, found: _Values) -> dict[str, Any]:
        """Return the keywords of objects; keys that are data, such as ids, are no properties."""
        count = found.types["object"]
        most = max((one.count for one in found.members.values()), default=0)
        if count >= _LEAST_OBJECTS and len(found.members) >= _LEAST_KEYS and 2 * most <= count:
            merged = _Values()
            for one in found.members.values():
                _merge(merged, one)
            return {"additionalProperties": self.schema(merged)}
        names = list(self._ordered(found))
        required = [name for name in names if found.members[name].count == count]
        return {
            "properties": {name: self.schema(found.members[name]) for name in names},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def _ordered(self, found: _Values) -> Iterator[str]:
        """Yield the keys so that each follows those before it in all samples; else in order of first appearance."""
        before = dict.fromkeys(found.members, 0)
        for followers in found.followers.values():
            for name in followers:
                before[name] += 1
        left = dict.fromkeys(found.members)
        while left:
            checkpoint(len(left))
            ready = [name for name in left if not before[name]]
            if not ready:
                self.has_order = False
                yield from left
                return
            name = ready[0]
            del left[name]
            for follower in found.followers[name]:
                before[follower] -= 1
            yield name

    def _format(self, strings: dict[str, int]) -> str:
        """Return the format that all strings have; empty for none."""
        if len(strings) > _MOST_COMPARED or "" in strings:
            return ""
        for name, beginning in _FORMATS.items():
            if all(map(beginning.match, strings)):
                grammar = _format_grammar(name)
                if all(grammar.fullmatch(json.dumps(one, ensure_ascii=False)) for one in strings):
                    return name
        return ""


@lru_cache(maxsize=16)
def _format_grammar(name: str) -> CompiledGrammar:
    options = CompileOptions(escapes="any")
    return compile_grammar("json_schema", json.dumps({"type": "string", "format": name}), options)


def _merge(one: _Values, other: _Values) -> None:
    """Add the values of another place."""
    todo = [(one, other)]
    while todo:
        into, more = todo.pop()
        into.count += more.count
        for counts, added in ((into.types, more.types), (into.strings, more.strings)):
            for name, times in added.items():
                counts[name] = counts.get(name, 0) + times
        for name, followers in more.followers.items():
            into.followers.setdefault(name, {}).update(followers)
        if more.items is not None:
            into.items = into.items or _Values()
            todo.append((into.items, more.items))
        todo += [(into.members.setdefault(name, _Values()), member) for name, member in more.members.items()]


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case Decimal() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
