"""JSON text to a tree whose every part knows its place. No call stack of its own grows with the nesting.

Rejected: the `json` module. It gives no positions, keeps the last of two equal
keys in silence, and overflows on deep nesting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

from engine.automata.json.values import (
    FALSE,
    NULL,
    TRUE,
    ArrayValue,
    HugeNumberError,
    ObjectValue,
    Value,
    number,
)
from engine.source import Span

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CHUNK: Final = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]{4}")


class JsonTextError(Exception):
    """The text is no JSON."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message, self.span = message, span


@dataclass(slots=True, eq=False)
class Json:
    """A JSON value in a text.

    Attributes:
        value: None, a boolean, a number, a string; a list of parts for an array; a dict of them for an object.
        span: its place.
        key_spans: of an object, the places of its keys.
        doubled: the places of keys that came before.
        parent: what holds it, and by which key or index.
    """

    value: Content
    span: Span
    key_spans: dict[str, Span] = field(default_factory=dict)
    doubled: list[Span] = field(default_factory=list)
    parent: tuple[Json, str | int] | None = None

    @property
    def pointer(self) -> str:
        """The JSON Pointer (RFC 6901); empty for the root."""
        steps: list[str] = []
        here = self
        while here.parent is not None:
            here, step = here.parent
            steps.append(str(step).replace("~", "~0").replace("/", "~1"))
        return "".join("/" + step for step in reversed(steps))

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


Content: TypeAlias = "bool | Fraction | str | list[Json] | dict[str, Json] | None"


def read_json(text: str) -> Json:
    """Read a JSON text.

    Raises:
        JsonTextError: it is none.
    """
    return _Reader(text).run()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
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

    def _value(self) -> Json | None:
        """Read a value; None where it has parts that must be read first."""
        start, text = self._at, self._text
        first = self._peek()
        if first in ("{", "["):
            self._at += 1
            self._skip()
            opened = Json({} if first == "{" else [], Span(start, start))
            closing = "}" if first == "{" else "]"
            if self._peek() == closing:
                self._at += 1
                opened.span = Span(start, self._at)
                return opened
            self._open.append(opened)
            if first == "{":
                self._key(opened)
            return None
        if first == '"':
            return Json(self._string(), Span(start, self._at))
        for word, value in (("null", None), ("true", True), ("false", False)):
            if text.startswith(word, start):
                self._at += len(word)
                return Json(value, Span(start, self._at))
        match = _NUMBER.match(text, start)
        if match is None:
            raise self._error("a JSON value should stand here" if first else "the text ends before the JSON does")
        self._at = match.end()
        try:
            return Json(number(match[0]), Span(start, self._at))
        except HugeNumberError:
            raise JsonTextError("this number is too large to work with", Span(start, self._at)) from None

    def _attach(self, value: Json) -> Json | None:
        """Put a value into what is open, and read on; what is open, once it closes."""
        holder = self._open[-1]
        self._skip()
        if isinstance(holder.value, list):
            value.parent = (holder, len(holder.value))
            holder.value.append(value)
            closing = "]"
        else:
            assert isinstance(holder.value, dict)
            key = self._keys.pop()
            value.parent = (holder, key)
            holder.value[key] = value
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
        holder.span = Span(holder.span.start, self._at)
        return self._open.pop()

    def _key(self, holder: Json) -> None:
        start = self._at
        if self._peek() != '"':
            raise self._error("a key in double quotes should stand here")
        key = self._string()
        span = Span(start, self._at)
        if key in holder.key_spans:
            holder.doubled.append(span)
        holder.key_spans[key] = span
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
