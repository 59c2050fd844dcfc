"""Frames: the state of one nesting level of a JSON text, and the symbols that may end the white space there."""

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
    """The position of the parser within a nesting level."""

    ROOT = 0  # before the only value
    DONE = 1  # after it
    WORD = 2  # within null, false or true
    NUMBER = 3
    STRING = 4
    OPEN_ARRAY = 5  # after [
    ITEM = 6  # after a comma
    IN_ITEM = 7  # an item is open in the frame above
    AFTER_ITEM = 8
    OPEN_OBJECT = 9  # after {
    MEMBER = 10  # after a comma
    KEY = 11  # within a key
    AFTER_KEY = 12
    VALUE = 13  # after a colon, or a value is open in the frame above
    AFTER_MEMBER = 14


Alternative: TypeAlias = Any
"""One alternative of a level: a language, a state, a transition or a literal's type, as the position requires."""

Alternatives: TypeAlias = tuple[tuple[Alternative, int], ...]


class Frame(NamedTuple):
    """One nesting level with all alternatives that the text allows so far.

    Attributes:
        position: the parser's position within the level.
        alternatives: the alternatives, each with the alternatives of the frame below that it belongs to, as a bit set.
    """

    position: ParsePosition
    alternatives: Alternatives


class Root(NamedTuple):
    """The alternative of the bottom frame: the value of the whole text."""

    goal: Formula


TYPE_OF_SYMBOL: Final = {
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
"""The position at which a value of a type begins; values of other types are literals (`WORD`)."""
READS_LEXEME: Final = frozenset((ParsePosition.WORD, ParsePosition.NUMBER, ParsePosition.STRING, ParsePosition.KEY))
"""The positions at which the lexer reads more than white space."""
AFTER_SEPARATOR: Final = frozenset((ParsePosition.ITEM, ParsePosition.MEMBER, ParsePosition.VALUE))
ENDS_OF_WHITESPACE: Final = {
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
"""The symbols that may end white space, by position; where a value may begin, those of values come in addition."""
OF_MEMBER: Final = (ParsePosition.AFTER_KEY, ParsePosition.VALUE, ParsePosition.AFTER_MEMBER, ParsePosition.MEMBER)
"""The positions from the end of a key to the next key."""
BEFORE_VALUE: Final = frozenset((ParsePosition.ROOT, ParsePosition.VALUE, ParsePosition.OPEN_ARRAY, ParsePosition.ITEM))


def merge(pairs: Iterable[tuple[Alternative, int]]) -> Alternatives:
    """Merge equal alternatives; each gets the union of its bit sets."""
    merged: dict[Alternative, int] = {}
    for alternative, mask in pairs:
        merged[alternative] = merged.get(alternative, 0) | mask
    return tuple(merged.items())
