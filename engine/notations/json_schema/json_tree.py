"""A JSON text as a tree whose parts know their source spans.

The `json` module parses what it can, many times faster than Python code; spans are computed on first use by a second
reader in Python, which parses the text again. That reader also explains syntax errors, and handles what the module does
not: duplicate keys, and deep nesting, for which it needs no call stack.

A part stores its value and its number; the numbers of parents are in a list. So no part refers back to itself, and an
unused tree is freed at once instead of by the next garbage collection.

Rejected: the Python reader alone. Most schemas compile without a finding, and it took a quarter of the compile time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final, TypeAlias

from engine.schema_automaton.formula.values import (
    FALSE,
    NULL,
    TRUE,
    ArrayValue,
    HugeNumber,
    ObjectValue,
    Value,
    number,
)
from engine.source import Diagnostic, SourceText, Span, checkpoint, counted_cache, diagnostic
from engine.source.json_pointer import escape_step
from engine.source.json_scanner import JSON_NUMBER

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_CHUNK: Final = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]{4}")


class JsonTextError(Exception):
    """The text is not JSON, or nested too deeply; the diagnostic says why."""

    def __init__(self, found: Diagnostic) -> None:
        super().__init__(found.message)
        self.diagnostic = found


class Json:
    """A JSON value in a text; compared by identity.

    Attributes:
        value: None, a boolean, a number, a string; a list of parts for an array; a dict of them for an object.
        number: its number among the parts of the text; the root's is 0.
    """

    __slots__ = ("_text", "number", "value")

    def __init__(self, value: Content, number: int, text: JsonText) -> None:
        self.value = value
        self.number = number
        self._text = text

    @property
    def identity(self) -> object:
        """A value that identifies the part among all parts and keys of the text."""
        return self.number

    @property
    def span(self) -> Span:
        """The source span."""
        return self._text.places[self.number][0]

    @property
    def key_spans(self) -> dict[str, Span]:
        """The spans of an object's keys."""
        return self._text.places[self.number][1]

    @property
    def duplicate_keys(self) -> Sequence[Span]:
        """The spans of an object's duplicate keys."""
        return self._text.doubled.get(self.number, ())

    @property
    def ancestors(self) -> Iterator[int]:
        """The number of this part, then those of its ancestors up to the root."""
        here, above = self.number, self._text.above
        while here >= 0:
            yield here
            here = above[here]

    @property
    def pointer(self) -> str:
        """The JSON Pointer (RFC 6901); empty for the root."""
        steps = [str(self._text.steps[number]) for number in self.ancestors if number]
        return "".join("/" + escape_step(step) for step in reversed(steps))

    @property
    def members(self) -> dict[str, Json]:
        """The members of an object; empty for other values."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Json]:
        """The items of an array; empty for other values."""
        return self.value if isinstance(self.value, list) else []

    def to_value(self) -> Value:
        """Return the value without source spans."""
        value = self.value
        if value is None:
            return NULL
        if isinstance(value, bool):
            return TRUE if value else FALSE
        if isinstance(value, list):
            return ArrayValue(tuple(item.to_value() for item in value))
        if isinstance(value, dict):
            members = {name: item.to_value() for name, item in value.items()}
            return ObjectValue(frozenset(members.items()), tuple(members))
        return value


Content: TypeAlias = "bool | Fraction | HugeNumber | str | list[Json] | dict[str, Json] | None"


class Key:
    """The key of a member, as a source location."""

    __slots__ = ("_holder", "_name")

    def __init__(self, holder: Json, name: str) -> None:
        self._holder, self._name = holder, name

    @property
    def holder(self) -> Json:
        """The object that contains it."""
        return self._holder

    @property
    def identity(self) -> object:
        """A value that identifies the key among all parts and keys of the text."""
        return self._holder.number, self._name

    @property
    def span(self) -> Span:
        """The source span."""
        return self._holder.key_spans[self._name]

    @property
    def ancestors(self) -> Iterator[int]:
        """The numbers of its object and the object's ancestors, up to the root."""
        return self._holder.ancestors

    @property
    def pointer(self) -> str:
        """The JSON Pointer of its member."""
        return self._holder.members[self._name].pointer


def pointer_to(place: object) -> str:
    """Return the JSON Pointer of a location, in words."""
    return (place.pointer if isinstance(place, Json | Key) else "") or "the schema"


def read_json(text: str, nesting: int | None = None) -> Json:
    """Parse a JSON text.

    Args:
        text: the text.
        nesting: the largest nesting depth of objects and arrays; None for any.

    Raises:
        JsonTextError: it is not JSON, or nested too deeply.
    """
    reader = JsonText(text)
    if _is_shallow(text, nesting):
        try:
            return reader.tree(_DECODER.decode(text))
        except ValueError:
            pass  # the other reader explains errors and handles unusual texts
    return reader.read(nesting)


_HOLDERS: Final = (dict, list)

_Location: TypeAlias = tuple[Span, dict[str, Span]]
"""The span of a part, and those of an object's keys."""


class JsonText:
    """Parses a text, and holds the positions of its parts.

    Attributes:
        above: for each part, by number, the number of its parent; -1 for the root.
        steps: for each part, its key or index.
        doubled: for objects with duplicate keys, their spans.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.above: list[int] = [-1]
        self.steps: list[str | int] = [""]
        self.doubled: dict[int, Sequence[Span]] = {}
        self._places: list[_Location] | None = None

    def tree(self, plain: Any) -> Json:
        """Return the root of a value that the `json` module has parsed."""
        above, steps = self.above, self.steps
        root = Json(plain, 0, self)
        todo = [(plain, 0)] if isinstance(plain, dict | list) else []
        while todo:
            value, holder = todo.pop()
            checkpoint(1 + len(value))
            for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
                number = len(above)
                above.append(holder)
                steps.append(step)
                value[step] = Json(inner, number, self)
                if isinstance(inner, _HOLDERS):
                    todo.append((inner, number))
        return root

    def read(self, nesting: int | None = None) -> Json:
        """Parse with the Python reader and return the root, with all spans."""
        reader = _Reader(self._text, nesting, self)
        root = reader.run()
        above, places, todo = [-1], [reader.places[root]], [root]
        steps: list[str | int] = [""]
        while todo:
            checkpoint()
            holder = todo.pop()
            parts: list[tuple[str | int, Json]] = [*holder.members.items(), *enumerate(holder.items)]
            for step, part in parts:
                part.number = len(above)
                above.append(holder.number)
                steps.append(step)
                places.append(reader.places[part])
                if isinstance(part.value, dict | list):
                    todo.append(part)
        self.above, self.steps, self._places = above, steps, places
        self.doubled = {holder.number: spans for holder, spans in reader.doubled.items()}
        return root

    @property
    def places(self) -> list[_Location]:
        """The spans of all parts, computed on first use."""
        if self._places is None:
            self.read()
            assert self._places is not None
        return self._places


# The json module is recursive, in C. Up to this depth its stack is known to suffice.
_SHALLOW: Final = 300
_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]')
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


def _is_shallow(text: str, nesting: int | None) -> bool:
    most = _SHALLOW if nesting is None else min(_SHALLOW, nesting)
    if text.count("[") + text.count("{") <= most:
        return True
    steps = (_STEPS.get(found, 0) for found in _BRACKETS.findall(text))
    return max(accumulate(steps), default=0) <= most


class _UnusualError(ValueError):
    """The json module accepts the text, but reads it differently."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    checkpoint(1 + len(pairs))
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _UnusualError
    return members


def _no_number(text: str) -> Any:
    raise _UnusualError(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=number, parse_float=number, parse_constant=_no_number
)


class _Reader:
    """Parses a text; the numbers of its parts are assigned later.

    Attributes:
        places: the span of each part.
        doubled: the spans of duplicate keys, by object.
    """

    def __init__(self, text: str, nesting: int | None, owner: JsonText) -> None:
        self._text, self._owner = text, owner
        self._nesting = nesting
        self._at = 0
        self.places: dict[Json, _Location] = {}
        self.doubled: dict[Json, list[Span]] = {}
        self._open: list[Json] = []
        self._keys: list[str] = []

    def run(self) -> Json:
        self._skip()
        while True:
            done = self._value()
            while done is not None:
                if not self._open:
                    self._skip()
                    if self._at < len(self._text):
                        raise self._error("schema-no-json.rest")
                    return done
                done = self._attach(done)

    def _skip(self) -> None:
        match = _BLANKS.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _error(self, key: str, start: int | None = None, **fields: object) -> JsonTextError:
        start = self._at if start is None else start
        span = Span(start, min(start + 1, max(len(self._text), start)))
        return JsonTextError(diagnostic(key, span, **fields))

    def _part(self, value: Content, start: int) -> Json:
        part = Json(value, 0, self._owner)
        self.places[part] = Span(start, self._at), {}
        return part

    def _value(self) -> Json | None:
        """Read a value; return None if its parts must be read first."""
        checkpoint()
        start, text = self._at, self._text
        first = self._peek()
        if first in ("{", "["):
            self._at += 1
            self._skip()
            content: Content = {} if first == "{" else []
            closing = "}" if first == "{" else "]"
            if self._peek() == closing:
                self._at += 1
                return self._part(content, start)
            if len(self._open) == self._nesting:
                raise self._error("schema-too-deep", start, limit=self._nesting)
            opened = self._part(content, start)
            self._open.append(opened)
            if first == "{":
                self._key(opened)
            return None
        if first == '"':
            return self._part(self._string(), start)
        for word, value in (("null", None), ("true", True), ("false", False)):
            if text.startswith(word, start):
                self._at += len(word)
                return self._part(value, start)
        match = JSON_NUMBER.match(text, start)
        if match is None:
            raise self._error("schema-no-json.value" if first else "schema-no-json.end")
        self._at = match.end()
        return self._part(number(match[0]), start)

    def _attach(self, value: Json) -> Json | None:
        """Add a value to the innermost open object or array, and return that once it closes."""
        holder = self._open[-1]
        self._skip()
        if isinstance(holder.value, list):
            holder.value.append(value)
            closing = "]"
        else:
            assert isinstance(holder.value, dict)
            holder.value[self._keys.pop()] = value
            closing = "}"
        following = self._peek()
        if following == ",":
            self._at += 1
            self._skip()
            if closing == "}":
                self._key(holder)
            return None
        if following != closing:
            raise self._error("schema-no-json.comma", closing=closing)
        self._at += 1
        span, key_spans = self.places[holder]
        self.places[holder] = Span(span.start, self._at), key_spans
        return self._open.pop()

    def _key(self, holder: Json) -> None:
        start = self._at
        if self._peek() != '"':
            raise self._error("schema-no-json.key")
        key = self._string()
        span = Span(start, self._at)
        key_spans = self.places[holder][1]
        if key in key_spans:
            self.doubled.setdefault(holder, []).append(span)
        key_spans[key] = span
        self._keys.append(key)
        self._skip()
        if self._peek() != ":":
            raise self._error("schema-no-json.colon")
        self._at += 1
        self._skip()

    def _string(self) -> str:
        start = self._at
        self._at += 1
        parts: list[str] = []
        while True:
            checkpoint()
            chunk = _CHUNK.match(self._text, self._at)
            assert chunk is not None
            parts.append(chunk[0])
            self._at = chunk.end()
            mark = self._peek()
            if mark == '"':
                self._at += 1
                value = "".join(parts)
                if any("\ud800" <= part <= "\udfff" for part in parts):  # two surrogates make one character
                    value = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
                return value
            if mark == "":
                raise self._error("schema-no-json.string", start)
            if mark != "\\":
                raise self._error("schema-no-json.control")
            parts.append(self._escape())

    def _escape(self) -> str:
        kind = self._text[self._at + 1 : self._at + 2]
        if kind in _ESCAPES:
            self._at += 2
            return _ESCAPES[kind]
        match = _HEXADECIMAL.match(self._text, self._at + 2) if kind == "u" else None
        if match is None:
            raise self._error("schema-no-json.escape")
        self._at += 6
        return chr(int(match[0], 16))


def pointers(source: SourceText, spans: Iterable[Span]) -> tuple[str, ...]:
    """Return the pointers of spans without repetition: a span is that of a value, or of a value's key."""
    known = _pointers(source)
    return tuple(dict.fromkeys(known[span] for span in spans if span in known))


@counted_cache(maxsize=8)
def _pointers(source: SourceText) -> dict[Span, str]:
    """Return the pointers of all values and keys by span."""
    found: dict[Span, str] = {}
    todo: list[tuple[Json, str]] = [(read_json(source.text), "")]
    while todo:
        value, pointer = todo.pop()
        found[value.span] = pointer
        for name, member in value.members.items():
            below = f"{pointer}/{escape_step(name)}"
            found[value.key_spans[name]] = below
            todo.append((member, below))
        todo += ((item, f"{pointer}/{index}") for index, item in enumerate(value.items))
    return found
