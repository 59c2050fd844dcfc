"""Frames: what a level of a JSON text is at, and what may end the white space there."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias

from engine.schema_automaton.formula.nodes import Formula
from engine.schema_automaton.formula.values import Kind
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


class Phase(IntEnum):
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

    phase: Phase
    items: Items


class Root(NamedTuple):
    """The value of the whole text."""

    goal: Formula


KIND_OF: Final = {
    QUOTE: Kind.STRING,
    OPEN_BRACKET: Kind.ARRAY,
    OPEN_BRACE: Kind.OBJECT,
    NUMBER: Kind.NUMBER,
    TRUE: Kind.TRUE,
    FALSE: Kind.FALSE,
    NULL: Kind.NULL,
}
OPENED: Final = {
    Kind.STRING: Phase.STRING,
    Kind.NUMBER: Phase.NUMBER,
    Kind.ARRAY: Phase.OPEN_ARRAY,
    Kind.OBJECT: Phase.OPEN_OBJECT,
}
"""Where a value of a kind begins; the others are words."""
OF_ITEMS: Final = frozenset((Phase.WORD, Phase.NUMBER, Phase.STRING, Phase.KEY))
"""Where what is read is not white space alone."""
BEHIND: Final = frozenset((Phase.ITEM, Phase.MEMBER, Phase.VALUE))
BETWEEN: Final = {
    Phase.ROOT: (),
    Phase.OPEN_ARRAY: (CLOSE_BRACKET,),
    Phase.ITEM: (),
    Phase.AFTER_ITEM: (COMMA, CLOSE_BRACKET),
    Phase.OPEN_OBJECT: (QUOTE, CLOSE_BRACE),
    Phase.MEMBER: (QUOTE,),
    Phase.AFTER_KEY: (COLON,),
    Phase.VALUE: (),
    Phase.AFTER_MEMBER: (COMMA, CLOSE_BRACE),
    Phase.DONE: (),
}
"""The symbols that may end white space, by where it stands; and where a value may begin, those of values."""
OF_MEMBER: Final = (Phase.AFTER_KEY, Phase.VALUE, Phase.AFTER_MEMBER, Phase.MEMBER)
"""From the end of a key to the next one."""
BEFORE_VALUE: Final = frozenset((Phase.ROOT, Phase.VALUE, Phase.OPEN_ARRAY, Phase.ITEM))


def merge(pairs: Iterable[tuple[Place, int]]) -> Items:
    """Each place once, with all that it belongs to."""
    merged: dict[Place, int] = {}
    for place, mask in pairs:
        merged[place] = merged.get(place, 0) | mask
    return tuple(merged.items())
