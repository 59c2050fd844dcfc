"""A JSON text as a tree with places, however broken it is, and where a cursor stands in it.

A missing comma, colon, bracket or quote is passed over; an open string ends with
its line. What a schema means by a part (a schema, a map of schemas, plain data)
follows from the way to it, so it is noted while the tree is built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final

from engine.source import Span

_TOKEN: Final = re.compile(r"(?P<string>\"(?:[^\"\\\n]|\\[^\n])*+\"?)|(?P<word>[^\s\"{}\[\],:]+)|(?P<mark>[{}\[\],:])")

ONE: Final = frozenset(
    """additionalItems additionalProperties contains contentSchema else if items not propertyNames then
    unevaluatedItems unevaluatedProperties""".split()
)
LIST: Final = frozenset("allOf anyOf items oneOf prefixItems".split())
NAMED: Final = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())
_DATA: Final = frozenset("enum const default examples example".split())


class Meaning(StrEnum):
    """What a part of a schema is."""

    SCHEMA = "schema"
    SCHEMAS = "schemas"  # an object whose members are schemas
    VALUE = "value"  # of a keyword, or of none that is known
    DATA = "data"  # an instance, in which `$ref` is a key like another


class OutlinePosition(Enum):
    """What is written where a cursor stands."""

    KEY = "key"
    VALUE = "value"
    NONE = "none"


@dataclass(eq=False, slots=True)
class OutlinePart:
    """A value of the text.

    Attributes:
        span: from its first to behind its last character.
        text: what a string says; None for what is no string.
        members: of an object, by key; of a doubled key, the last.
        keys: the spans of these keys, quotes included.
        earlier: the spans of keys that came again.
        items: of an array.
        name: the key or the index by which its holder has it.
    """

    span: Span
    meaning: Meaning
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
        """This part and all within it, in source order."""
        todo = [self]
        while todo:
            part = todo.pop()
            yield part
            todo += [*reversed(part.items), *reversed(part.members.values())]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a cursor stands.

    Attributes:
        place: what is written there.
        holder: the object or array around it; None outside of all.
        key: in an object's value, its key.
        typed: the string or word that the cursor is in; an empty span at the cursor where it is in none.
        has_colon: at a key, whether its colon is there.
    """

    place: OutlinePosition
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
        root: its value; None for a text without one.
    """

    def __init__(self, text: str, offset: int | None = None) -> None:
        """Read a text; `standing` then tells of the offset."""
        self.root: OutlinePart | None = None
        self.standing: Standing | None = None
        self._text = text
        self._frames: list[_Frame] = []
        for found in _TOKEN.finditer(text):
            if offset is not None and self.standing is None:
                self._look(found, offset)
            getattr(self, f"_{found.lastgroup}")(found)
        if offset is not None and self.standing is None:
            self.standing = self._stand(Span(offset, offset), is_string=False)
        for frame in self._frames:
            frame.part.span = Span(frame.part.span.start, len(text))

    # --- building ----------------------------------------------------------------------------------------------------

    def _string(self, found: re.Match[str]) -> None:
        said = decoded(found.group())
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.part.is_object and frame.expects in {"key", "comma"}:
            frame.key, frame.expects = said, "colon"
            if said in frame.part.keys:
                frame.part.earlier.append((said, frame.part.keys[said]))
            frame.part.keys[said] = Span(*found.span())
        else:
            self._add(Span(*found.span())).text = said

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
            part = OutlinePart(span, Meaning.SCHEMA)
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
            self.standing = self._stand(Span(offset, offset), is_string=False)
        elif found.lastgroup == "word" and offset <= end:
            self.standing = self._stand(Span(start, end), is_string=False)
        elif found.lastgroup == "string" and (offset < end or (offset == end and not is_closed(found.group()))):
            # An open string may have run on into what follows the cursor on its line, and a closed one may end at the
            # quote of the next string.
            behind = self._text[offset:end].removesuffix('"')
            is_own = is_closed(found.group()) and not re.search(r"[\s,:{}\[\]]", behind)
            following = re.compile(r"\s*:").match(self._text, end) is not None
            self.standing = self._stand(
                Span(start, end if is_own else offset), is_string=True, has_colon=is_own and following
            )

    def _stand(self, typed: Span, *, is_string: bool, has_colon: bool = False) -> Standing:
        if not self._frames:
            place = OutlinePosition.VALUE if self.root is None else OutlinePosition.NONE
            return Standing(place, None, None, typed)
        frame = self._frames[-1]
        if not frame.part.is_object:
            place = OutlinePosition.VALUE if frame.expects == "value" or is_string else OutlinePosition.NONE
            return Standing(place, frame.part, None, typed)
        if frame.expects == "key" or (frame.expects == "comma" and is_string):
            return Standing(OutlinePosition.KEY, frame.part, None, typed, has_colon)
        place = OutlinePosition.VALUE if frame.expects == "value" else OutlinePosition.NONE
        return Standing(place, frame.part, frame.key, typed)


def _below(holder: OutlinePart, key: str | int) -> Meaning:
    """What a member or an item of a part is."""
    if holder.meaning is Meaning.DATA:
        return Meaning.DATA
    if holder.is_array:
        is_list = holder.name in LIST and holder.holder is not None and holder.holder.meaning is Meaning.SCHEMA
        return Meaning.SCHEMA if is_list else Meaning.VALUE
    if holder.meaning is Meaning.SCHEMAS:
        return Meaning.SCHEMA
    if holder.meaning is Meaning.SCHEMA:
        if key in NAMED:
            return Meaning.SCHEMAS
        if key in _DATA:
            return Meaning.DATA
        return Meaning.SCHEMA if key in ONE else Meaning.VALUE
    return Meaning.VALUE


def is_closed(string: str) -> bool:
    """Whether a string of the text has its closing quote."""
    return len(string) > 1 and string[-1] == '"' and (len(string) - 1 - len(string[:-1].rstrip("\\"))) % 2 == 0


def decoded(string: str) -> str:
    """What a string of the text says; of a broken one, its characters."""
    try:
        said = json.loads(string, strict=False)
    except ValueError:
        return string.removeprefix('"').removesuffix('"')
    return said if isinstance(said, str) else string
