"""A fault-tolerant JSON outline: the tree of a text with source spans, and the cursor's position in it.

It is built from the tokens of the lexer. A missing comma, colon, bracket or quote is skipped. What a part means in a
schema (a schema, a map of schemas, plain data) follows from its path, so it is determined while the tree is built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final

from engine.notations.json_schema.lexer import is_closed, json_tokens
from engine.source import Span

ONE: Final = frozenset(
    """additionalItems additionalProperties contains contentSchema else if items not propertyNames then
    unevaluatedItems unevaluatedProperties""".split()
)
LIST: Final = frozenset("allOf anyOf items oneOf prefixItems".split())
NAMED: Final = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())
_DATA: Final = frozenset("enum const default examples example".split())


class OutlineRole(StrEnum):
    """The role of a part of a schema."""

    SCHEMA = "schema"
    SCHEMAS = "schemas"  # an object whose members are schemas
    VALUE = "value"  # the value of a keyword or of an unknown key
    DATA = "data"  # an instance, in which `$ref` is an ordinary key


class OutlinePosition(Enum):
    """What is expected at the cursor."""

    KEY = "key"
    VALUE = "value"
    NONE = "none"


@dataclass(eq=False, slots=True)
class OutlinePart:
    """A value of the text.

    Attributes:
        span: from its first to after its last character.
        text: the value of a string; None for other values.
        members: the members of an object by key; for a duplicate key, the last.
        keys: the spans of these keys, quotes included.
        earlier: the spans of duplicate keys before the last.
        items: the items of an array.
        name: its key or index in its holder.
    """

    span: Span
    role: OutlineRole
    holder: OutlinePart | None = None
    name: str | int = ""
    text: str | None = None
    is_object: bool = False
    is_array: bool = False
    members: dict[str, OutlinePart] = field(default_factory=dict)
    keys: dict[str, Span] = field(default_factory=dict)
    earlier: list[tuple[str, Span]] = field(default_factory=list)
    items: list[OutlinePart] = field(default_factory=list)

    def walk(self) -> Iterator[OutlinePart]:
        """Yield this part and all parts within it, in source order."""
        todo = [self]
        while todo:
            part = todo.pop()
            yield part
            todo += [*reversed(part.items), *reversed(part.members.values())]


@dataclass(frozen=True, slots=True)
class CursorContext:
    """The context of the cursor.

    Attributes:
        place: what is expected there.
        holder: the enclosing object or array; None at the top level.
        key: the key of the value, in an object.
        typed: the string or word around the cursor; an empty span at the cursor if there is none.
        has_colon: whether a key already has its colon.
    """

    expects: OutlinePosition
    holder: OutlinePart | None
    key: str | None
    typed: Span
    has_colon: bool = False


@dataclass(slots=True)
class _Frame:
    part: OutlinePart
    expects: str  # "key", "colon", "value", "comma"
    key: str = ""


class Outline:
    """The tree of one text.

    Attributes:
        root: the value of the text; None if there is none.
    """

    def __init__(self, text: str, offset: int | None = None) -> None:
        """Read a text; `context` describes the context of the offset."""
        self.root: OutlinePart | None = None
        self.context: CursorContext | None = None
        self._text = text
        self._frames: list[_Frame] = []
        readers = {"string": self._string, "word": self._word, "mark": self._mark}
        for found in json_tokens(text):
            if offset is not None and self.context is None:
                self._look(found, offset)
            readers[found.lastgroup or "mark"](found)
        if offset is not None and self.context is None:
            self.context = self._context_at(Span(offset, offset), is_string=False)
        for frame in self._frames:
            frame.part.span = Span(frame.part.span.start, len(text))

    # --- building ----------------------------------------------------------------------------------------------------

    def _string(self, found: re.Match[str]) -> None:
        value = decoded(found.group())
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.part.is_object and frame.expects in {"key", "comma"}:
            frame.key, frame.expects = value, "colon"
            if value in frame.part.keys:
                frame.part.earlier.append((value, frame.part.keys[value]))
            frame.part.keys[value] = Span(*found.span())
        else:
            self._add(Span(*found.span())).text = value

    def _word(self, found: re.Match[str]) -> None:
        self._add(Span(*found.span()))

    def _mark(self, found: re.Match[str]) -> None:
        mark = found.group()
        frame = self._frames[-1] if self._frames else None
        if mark in "{[":
            part = self._add(Span(*found.span()))
            part.is_object, part.is_array = mark == "{", mark == "["
            self._frames.append(_Frame(part, "key" if mark == "{" else "value"))
        elif frame is not None and mark == ",":
            frame.expects = "key" if frame.part.is_object else "value"
        elif frame is not None and mark == ":":
            frame.expects = "value"
        elif frame is not None and mark in "}]":
            while len(self._frames) > 1 and self._frames[-1].part.is_object != (mark == "}"):
                self._close(found.start())
            self._close(found.end())

    def _close(self, end: int) -> None:
        part = self._frames.pop().part
        part.span = Span(part.span.start, end)

    def _add(self, span: Span) -> OutlinePart:
        frame = self._frames[-1] if self._frames else None
        if frame is None:
            part = OutlinePart(span, OutlineRole.SCHEMA)
            if self.root is None:
                self.root = part
            return part
        holder = frame.part
        if holder.is_array:
            part = OutlinePart(span, _below(holder, 0), holder, len(holder.items))
            holder.items.append(part)
        else:
            part = OutlinePart(span, _below(holder, frame.key), holder, frame.key)
            holder.members[frame.key] = part
        frame.expects = "comma"
        return part

    # --- the cursor --------------------------------------------------------------------------------------------------

    def _look(self, found: re.Match[str], offset: int) -> None:
        start, end = found.span()
        if offset <= start and not (offset == start and found.lastgroup == "word"):
            self.context = self._context_at(Span(offset, offset), is_string=False)
        elif found.lastgroup == "word" and offset <= end:
            self.context = self._context_at(Span(start, end), is_string=False)
        elif found.lastgroup == "string" and (offset < end or (offset == end and not is_closed(found.group()))):
            # An unclosed string may include what follows the cursor on its line, and a closed one may end at the quote
            # of the next string.
            behind = self._text[offset:end].removesuffix('"')
            is_own = is_closed(found.group()) and not re.search(r"[\s,:{}\[\]]", behind)
            following = re.compile(r"\s*:").match(self._text, end) is not None
            self.context = self._context_at(
                Span(start, end if is_own else offset), is_string=True, has_colon=is_own and following
            )

    def _context_at(self, typed: Span, *, is_string: bool, has_colon: bool = False) -> CursorContext:
        if not self._frames:
            place = OutlinePosition.VALUE if self.root is None else OutlinePosition.NONE
            return CursorContext(place, None, None, typed)
        frame = self._frames[-1]
        if not frame.part.is_object:
            place = OutlinePosition.VALUE if frame.expects == "value" or is_string else OutlinePosition.NONE
            return CursorContext(place, frame.part, None, typed)
        if frame.expects == "key" or (frame.expects == "comma" and is_string):
            return CursorContext(OutlinePosition.KEY, frame.part, None, typed, has_colon)
        place = OutlinePosition.VALUE if frame.expects == "value" else OutlinePosition.NONE
        return CursorContext(place, frame.part, frame.key, typed)


def _below(holder: OutlinePart, key: str | int) -> OutlineRole:
    """Return the role of a member or an item."""
    if holder.role is OutlineRole.DATA:
        return OutlineRole.DATA
    if holder.is_array:
        is_list = holder.name in LIST and holder.holder is not None and holder.holder.role is OutlineRole.SCHEMA
        return OutlineRole.SCHEMA if is_list else OutlineRole.VALUE
    if holder.role is OutlineRole.SCHEMAS:
        return OutlineRole.SCHEMA
    if holder.role is OutlineRole.SCHEMA:
        if key in NAMED:
            return OutlineRole.SCHEMAS
        if key in _DATA:
            return OutlineRole.DATA
        return OutlineRole.SCHEMA if key in ONE else OutlineRole.VALUE
    return OutlineRole.VALUE


def decoded(string: str) -> str:
    """Return the value of a string of the text; for an invalid string, its characters."""
    try:
        value = json.loads(string, strict=False)
    except ValueError:
        return string.removeprefix('"').removesuffix('"')
    return value if isinstance(value, str) else string
