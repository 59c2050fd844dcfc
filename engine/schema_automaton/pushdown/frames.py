"""Frames: what a level of a JSON text is at, and what may end the white space there."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias

from engine.schema_automaton.formula.nodes import Formula
from engine.schema_automaton.formula.values import JsonType
from engine.schema_automaton.lexing.lexer import (
    CLOSE_BRACE,
    CLOSE_BRACKET,
    COLON,
    COMMA,
    FALSE,
    NULL,
    NUMBER,
    OPEN_BRACE,
    OPEN_BRACKET,
    QUOTE,
    TRUE,
)


class ParsePosition(IntEnum):
    """Where within a level the text stands."""

    ROOT = 0  # before the only value
    DONE = 1  # after it
    WORD = 2  # within null, false, true
    NUMBER = 3
    STRING = 4
    OPEN_ARRAY = 5  # behind [
    ITEM = 6  # behind a comma
    IN_ITEM = 7  # an item is open above
    AFTER_ITEM = 8
    OPEN_OBJECT = 9  # behind {
    MEMBER = 10  # behind a comma
    KEY = 11  # within a key
    AFTER_KEY = 12
    VALUE = 13  # behind a colon, or a value is open above
    AFTER_MEMBER = 14


Place: TypeAlias = Any
"""What a level holds: a language, a place, a move or a word, as its phase says."""

Items: TypeAlias = tuple[tuple[Place, int], ...]


class Frame(NamedTuple):
    """One level.

    Attributes:
        phase: where within it the text stands.
        items: the places, each with those of the frame below that it belongs to, as a bit set.
    """

    phase: ParsePosition
    items: Items


class Root(NamedTuple):
    """The value of the whole text."""

    goal: Formula


KIND_OF: Final = {
    QUOTE: JsonType.STRING,
    OPEN_BRACKET: JsonType.ARRAY,
    OPEN_BRACE: JsonType.OBJECT,
    NUMBER: JsonType.NUMBER,
    TRUE: JsonType.TRUE,
    FALSE: JsonType.FALSE,
    NULL: JsonType.NULL,
}
OPENED: Final = {
    JsonType.STRING: ParsePosition.STRING,
    JsonType.NUMBER: ParsePosition.NUMBER,
    JsonType.ARRAY: ParsePosition.OPEN_ARRAY,
    JsonType.OBJECT: ParsePosition.OPEN_OBJECT,
}
"""Where a value of a kind begins; the others are words."""
OF_ITEMS: Final = frozenset((ParsePosition.WORD, ParsePosition.NUMBER, ParsePosition.STRING, ParsePosition.KEY))
"""Where what is read is not white space alone."""
BEHIND: Final = frozenset((ParsePosition.ITEM, ParsePosition.MEMBER, ParsePosition.VALUE))
BETWEEN: Final = {
    ParsePosition.ROOT: (),
    ParsePosition.OPEN_ARRAY: (CLOSE_BRACKET,),
    ParsePosition.ITEM: (),
    ParsePosition.AFTER_ITEM: (COMMA, CLOSE_BRACKET),
    ParsePosition.OPEN_OBJECT: (QUOTE, CLOSE_BRACE),
    ParsePosition.MEMBER: (QUOTE,),
    ParsePosition.AFTER_KEY: (COLON,),
    ParsePosition.VALUE: (),
    ParsePosition.AFTER_MEMBER: (COMMA, CLOSE_BRACE),
    ParsePosition.DONE: (),
}
"""The symbols that may end white space, by where it stands; and where a value may begin, those of values."""
OF_MEMBER: Final = (ParsePosition.AFTER_KEY, ParsePosition.VALUE, ParsePosition.AFTER_MEMBER, ParsePosition.MEMBER)
"""From the end of a key to the next one."""
BEFORE_VALUE: Final = frozenset((ParsePosition.ROOT, ParsePosition.VALUE, ParsePosition.OPEN_ARRAY, ParsePosition.ITEM))


def merge(pairs: Iterable[tuple[Place, int]]) -> Items:
    """Each place once, with all that it belongs to."""
    merged: dict[Place, int] = {}
    for place, mask in pairs:
        merged[place] = merged.get(place, 0) | mask
    return tuple(merged.items())
