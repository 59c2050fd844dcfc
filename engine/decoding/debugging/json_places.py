"""Where in a JSON text one stands, and which parts of a schema are about that value.

The bytes of a JSON text alone tell its levels, so the way to a value is known without
the schema: keys and indexes. Which subschemas are about it is found by going the same
way through the schema, references included. All that may apply do: of `anyOf`, each
alternative. A breakpoint on a part of a schema is so about values, and stops where one
begins.

Rejected: reading it off the runtime. Its frames hold what is still to be checked,
and a plain `{"type": "string"}` leaves nothing there that has a place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import unquote

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indexes from the whole text to a value."""

MOST_PLACES: Final = 64
"""Of one value, so many subschemas are named."""

_IN_PLACE: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE_ALONE: Final = ("if", "then", "else", "not")
_SCALAR_ENDS: Final = frozenset(b",]} \t\r\n")
_QUOTE, _ESCAPE = ord('"'), ord("\\")


class JsonMoment(NamedTuple):
    """After a byte.

    Attributes:
        read: the values that it is part of, the outermost first.
        open: those of them that are not over.
    """

    read: tuple[Path, ...]
    open: tuple[Path, ...]


class JsonScanner:
    """Reads a prefix of a JSON text byte by byte; what is no JSON leaves it where it stands."""

    def __init__(self) -> None:
        self._open: list[Path] = []
        self._containers: list[bool] = []  # of each open value: whether it is an object or an array
        self._next: str | int | None = None  # the key or the index of the next value
        self._key: bytearray | None = None  # the key that is being read
        self._in_string = self._escaped = self._in_scalar = False
        self._wants_key = False

    def take(self, byte: int) -> JsonMoment:
        """Read one byte."""
        if self._in_scalar and byte in _SCALAR_ENDS:
            self._close()
        if self._in_string:
            return self._take_in_string(byte)
        match byte:
            case 0x7B | 0x5B:  # an object, an array
                self._begin()
                self._containers.append(byte == 0x7B)
                self._wants_key, self._next = byte == 0x7B, 0
            case 0x7D | 0x5D if self._containers:
                read = tuple(self._open)
                self._containers.pop()
                self._close()
                return JsonMoment(read, tuple(self._open))
            case 0x2C if self._containers:  # a comma
                is_object = self._containers[-1]
                self._wants_key = is_object
                last = self._next
                self._next = last + 1 if isinstance(last, int) and not is_object else None
            case _ if byte == _QUOTE and self._wants_key and self._containers:
                self._in_string, self._key = True, bytearray()
            case _ if byte == _QUOTE:
                self._begin()
                self._in_string = True
            case 0x3A | 0x20 | 0x09 | 0x0A | 0x0D:
                pass
            case _ if not self._in_scalar:
                self._begin()
                self._in_scalar = True
        return JsonMoment(tuple(self._open), tuple(self._open))

    def _take_in_string(self, byte: int) -> JsonMoment:
        read = tuple(self._open)
        if self._key is not None and (byte != _QUOTE or self._escaped):
            self._key.append(byte)
        if byte == _QUOTE and not self._escaped:
            self._in_string = False
            if self._key is None:
                self._close()
            else:
                self._next, self._key, self._wants_key = _text_of(bytes(self._key)), None, False
        self._escaped = byte == _ESCAPE and not self._escaped
        return JsonMoment(read, tuple(self._open))

    def _begin(self) -> None:
        above = self._open[-1] if self._open else ()
        self._open.append((*above, self._next) if self._open and self._next is not None else above)

    def _close(self) -> None:
        self._in_scalar = False
        if self._open:
            path = self._open.pop()
            self._next = path[-1] if path else None


def _text_of(key: bytes) -> str:
    try:
        return str(json.loads(b'"' + key + b'"'))
    except ValueError:
        return key.decode("utf-8", "replace")


class SchemaPlaces:
    """Which subschemas are about a value, by their JSON Pointers."""

    def __init__(self, text: str) -> None:
        self._root: Any = json.loads(text)
        self._known: dict[Path, tuple[str, ...]] = {(): self._with_in_place([""])}

    def of(self, path: Path) -> tuple[str, ...]:
        """The pointers of all subschemas that apply to the value on a path; the root's own is empty."""
        known = self._known.get(path)
        if known is None:
            above = self.of(path[:-1])
            below = [place for pointer in above for place in self._below(pointer, path[-1])]
            known = self._known[path] = self._with_in_place(below)
        return known

    def _with_in_place(self, pointers: list[str]) -> tuple[str, ...]:
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
            for key in _IN_PLACE:
                parts = schema.get(key)
                more += [f"{pointer}/{key}/{i}" for i in range(len(parts))] if isinstance(parts, list) else []
            more += [f"{pointer}/{key}" for key in _IN_PLACE_ALONE if key in schema]
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
        """The place that a reference within the text means; none for what is known by another address."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return []
        fragment = unquote(reference[1:])
        if not fragment or fragment.startswith("/"):
            return [fragment]
        return [place for place in (_anchored(self._root, fragment),) if place is not None]

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
    # Python's dialect stands in for ECMAScript's here: at worst a place is not named.
    try:
        return isinstance(pattern, str) and re.search(pattern, name) is not None
    except re.error:
        return False
