"""Descriptions of character sets and literal texts.

A description is derived from the set itself, not from its source, so it cannot differ from what matches. Only if a set
has too many ranges to list does the caller quote the source instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.grammar import CharSet
from engine.grammar.charset import EVERY_SCALAR, LAST_CODE_POINT
from engine.matching.explanation_text import quoted
from engine.vocabulary.visible import visible

MOST_RANGES: Final = 12
LONGEST_TEXT: Final = 120
_NAMES: Final = {0x09: "a tab", 0x0A: "a line feed", 0x0D: "a carriage return", 0x20: "a space"}
_SHORTEST_RANGE: Final = 3


def character_name(code: int) -> str:
    """Return the name of a white-space character, the character itself if visible, else its code point."""
    if code in _NAMES:
        return _NAMES[code]
    char = chr(code)
    return quoted(visible(char.encode())) if char.isprintable() else f"U+{code:04X}"


def characters(chosen: CharSet) -> str | None:
    """Describe a set: "one of `A` to `Z` or `_`"; None if it has too many ranges."""
    if not chosen & EVERY_SCALAR:
        return "half of a surrogate pair, which no text holds" if chosen else "no character"
    rest = EVERY_SCALAR - chosen
    if not rest:
        return "any character"
    if len(rest.ranges) <= MOST_RANGES and chosen.ranges[-1][1] == LAST_CODE_POINT:
        return f"any character but {_listed(rest, 'and')}"
    if len(chosen.ranges) > MOST_RANGES:
        return None
    return character_name(chosen.ranges[0][0]) if len(chosen) == 1 else f"one of {_listed(chosen, 'or')}"


def text_words(text: str) -> str:
    """Describe a literal text: "the text `abc`"; a very long one by its beginning and its length."""
    shown = visible(text[:LONGEST_TEXT].encode("utf-8", "surrogatepass"))
    if len(text) <= LONGEST_TEXT:
        return f"the text {quoted(shown)}"
    return f"a text of {len(text):,} characters that begins with {quoted(shown)}"


def joined(items: Iterable[str], conjunction: str) -> str:
    """Join a list in words: "a, b and c"."""
    parts = list(items)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {conjunction} {parts[-1]}"


def _listed(chosen: CharSet, conjunction: str) -> str:
    items: list[str] = []
    for first, last in chosen.ranges:
        if last - first + 1 < _SHORTEST_RANGE:
            items += (character_name(code) for code in range(first, last + 1))
        else:
            items.append(f"{character_name(first)} to {character_name(last)}")
    return joined(items, conjunction)
