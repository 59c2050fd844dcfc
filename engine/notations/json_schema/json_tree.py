"""JSON text to a tree whose every part knows its place.

The `json` module reads what it can, many times faster than Python code would;
places are looked up when one is first asked for, by a reader of our own, which
goes over the text again. That reader tells what is wrong with a text, too, and
takes what the module does not do: keys that stand twice, and deep nesting, for
which no call stack of its own grows.

A part knows what it holds, and its own number; what holds it stands in a list
of numbers. So no part leads back to itself, and a tree that nobody uses is gone
at once instead of with the next collection.

Rejected: our own reader alone. Most schemas compile without a word about them,
and it took a quarter of that time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
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
from engine.source import Span, checkpoint
from engine.source.json_scanner import JSON_NUMBER

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_CHUNK: Final = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]{4}")


class JsonTextError(Exception):
    """The text is no JSON."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message, self.span = message, span


class TooDeepError(JsonTextError):
    """It may be JSON, but its values are nested deeper than they may be."""


class Json:
    """A JSON value in a text; two are equal only if they are one.

    Attributes:
        value: None, a boolean, a number, a string; a list of parts for an array; a dict of them for an object.
        number: its own among the parts of the text; the root's is 0.
    """

    __slots__ = ("_text", "number", "value")

    def __init__(self, value: Content, number: int, text: _Text) -> None:
        self.value = value
        self.number = number
        self._text = text

    @property
    def identity(self) -> object:
        """Its number, which tells it from all other parts and keys of the text."""
        return self.number

    @property
    def span(self) -> Span:
        """Its place."""
        return self._text.places[self.number][0]

    @property
    def key_spans(self) -> dict[str, Span]:
        """Of an object, the places of its keys."""
        return self._text.places[self.number][1]

    @property
    def doubled(self) -> Sequence[Span]:
        """Of an object, the places of keys that stand there a second time."""
        return self._text.doubled.get(self.number, ())

    @property
    def way_up(self) -> Iterator[int]:
        """Its number, and those of what holds it, up to the root's."""
        here, above = self.number, self._text.above
        while here >= 0:
            yield here
            here = above[here]

    @property
    def pointer(self) -> str:
        """The JSON Pointer (RFC 6901); empty for the root."""
        steps = [str(self._text.steps[number]) for number in self.way_up if number]
        return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in reversed(steps))

    @property
    def members(self) -> dict[str, Json]:
        """The members of an object; none of anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Json]:
        """The items of an array; none of anything else."""
        return self.value if isinstance(self.value, list) else []

    def to_value(self) -> Value:
        """The value without its places."""
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
    """The key of a member, as a place."""

    __slots__ = ("_holder", "_name")

    def __init__(self, holder: Json, name: str) -> None:
        self._holder, self._name = holder, name

    @property
    def holder(self) -> Json:
        """The object that it is in."""
        return self._holder

    @property
    def identity(self) -> object:
        """What tells it from all other parts and keys of the text."""
        return self._holder.number, self._name

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self._holder.key_spans[self._name]

    @property
    def way_up(self) -> Iterator[int]:
        """The numbers of what holds it, up to the root's."""
        return self._holder.way_up

    @property
    def pointer(self) -> str:
        """The JSON Pointer of its member."""
        return self._holder.members[self._name].pointer


def pointer_to(place: object) -> str:
    """The JSON Pointer of a place, in words."""
    return (place.pointer if isinstance(place, Json | Key) else "") or "the schema"


def read_json(text: str, nesting: int | None = None) -> Json:
    """Read a JSON text.

    Args:
        text: the text.
        nesting: how many objects and arrays may hold one another; None for any number.

    Raises:
        JsonTextError: it is none, or nested deeper.
    """
    whole = _Text(text)
    if _is_shallow(text, nesting):
        try:
            return whole.tree(_DECODER.decode(text))
        except ValueError:
            pass  # what is wrong, or out of the ordinary, the other reader tells
    return whole.read(nesting)


_HOLDERS: Final = (dict, list)

_Place: TypeAlias = tuple[Span, dict[str, Span]]
"""Where a part stands, and of an object its keys."""


class _Text:
    """A text that was read.

    Attributes:
        above: of each part, by number, the number of what holds it; -1 for the root.
        steps: and by which key or index.
        doubled: of each object with such, the places of keys that stand there a second time.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.above: list[int] = [-1]
        self.steps: list[str | int] = [""]
        self.doubled: dict[int, Sequence[Span]] = {}
        self._places: list[_Place] | None = None

    def tree(self, plain: Any) -> Json:
        """The root of what the `json` module has read."""
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
        """The root of what our own reader reads, with all places."""
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
    def places(self) -> list[_Place]:
        """The places of all parts, looked up when one is first asked for."""
        if self._places is None:
            self.read()
            assert self._places is not None
        return self._places


# The json module is recursive, in C. Within this depth it is known to have room.
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
    """The json module reads it, but not as we do."""


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
    """Reads a text; the numbers of its parts are given later.

    Attributes:
        places: where each part stands.
        doubled: the places of keys that stand a second time, by what holds them.
    """

    def __init__(self, text: str, nesting: int | None, owner: _Text) -> None:
        self._text, self._owner = text, owner
        self._nesting = nesting
        self._at = 0
        self.places: dict[Json, _Place] = {}
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
                        raise self._error("nothing may follow the value")
                    return done
                done = self._attach(done)

    def _skip(self) -> None:
        match = _BLANKS.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _error(self, message: str, start: int | None = None) -> JsonTextError:
        start = self._at if start is None else start
        return JsonTextError(message, Span(start, min(start + 1, max(len(self._text), start))))

    def _part(self, value: Content, start: int) -> Json:
        part = Json(value, 0, self._owner)
        self.places[part] = Span(start, self._at), {}
        return part

    def _value(self) -> Json | None:
        """Read a value; None where it has parts that must be read first."""
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
                message = f"values are nested deeper than the limit `nesting` of {self._nesting:,}"
                raise TooDeepError(message, Span(start, start + 1))
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
            raise self._error("a JSON value should stand here" if first else "the text ends before the JSON does")
        self._at = match.end()
        return self._part(number(match[0]), start)

    def _attach(self, value: Json) -> Json | None:
        """Put a value into what is open, and read on; what is open, once it closes."""
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
            raise self._error(f"a comma or {closing} should stand here")
        self._at += 1
        span, key_spans = self.places[holder]
        self.places[holder] = Span(span.start, self._at), key_spans
        return self._open.pop()

    def _key(self, holder: Json) -> None:
        start = self._at
        if self._peek() != '"':
            raise self._error("a key in double quotes should stand here")
        key = self._string()
        span = Span(start, self._at)
        key_spans = self.places[holder][1]
        if key in key_spans:
            self.doubled.setdefault(holder, []).append(span)
        key_spans[key] = span
        self._keys.append(key)
        self._skip()
        if self._peek() != ":":
            raise self._error("a colon should stand here")
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
                whole = "".join(parts)
                if any("\ud800" <= part <= "\udfff" for part in parts):  # two halves make one character
                    whole = whole.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
                return whole
            if mark == "":
                raise self._error("this string is not closed", start)
            if mark != "\\":
                raise self._error("a control character must be escaped in a string")
            parts.append(self._escape())

    def _escape(self) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        if letter in _ESCAPES:
            self._at += 2
            return _ESCAPES[letter]
        match = _HEXADECIMAL.match(self._text, self._at + 2) if letter == "u" else None
        if match is None:
            raise self._error("this escape is none of JSON's")
        self._at += 6
        return chr(int(match[0], 16))
