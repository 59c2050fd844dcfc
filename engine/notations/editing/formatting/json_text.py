"""JSON formatter: two spaces per level; keys, numbers and escapes keep their form.

What the author wrote on one line stays on one line if it fits: a small schema is easiest to read as `{ "type": "string"
}`. A text on a single line has no layout to keep, so there only arrays of scalars stay on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

WIDTH: Final = 100
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+|[\[\]{},:]', re.DOTALL)
_INDENT: Final = "  "
_OPENING: Final = {"[", "{"}
_CLOSING: Final = {"]", "}"}
_BREAKING: Final = {"[", "{", ","}


def formatted_json(text: str) -> str:
    """Format a well-formed JSON text."""
    formatted = "".join(_lines(_Pieces(text)))
    return formatted + "\n" if text.endswith("\n") else formatted


class _Pieces:
    """The tokens of a text, and which brackets may be kept on one line."""

    def __init__(self, text: str) -> None:
        found = list(_PIECE.finditer(text))
        self.texts = [piece.group() for piece in found]
        self._ends = [-1] * len(found)  # the index of the closing bracket, by that of the opening one
        self._is_in_line = [False] * len(found)
        was_laid_out = "\n" in text.strip()
        opened: list[int] = []
        plain: list[bool] = []
        for number, piece in enumerate(self.texts):
            if piece in _OPENING:
                if plain:
                    plain[-1] = False
                opened.append(number)
                plain.append(piece == "[")
            elif piece in _CLOSING:
                start = opened.pop()
                has_break = text.find("\n", found[start].start(), found[number].start()) >= 0
                self._ends[start] = number
                self._is_in_line[start] = plain.pop() or number == start + 1 or (was_laid_out and not has_break)

    def in_line(self, start: int, room: int) -> tuple[str, int]:
        """Return a bracketed value on one line and the index of its end; an empty text if it must break."""
        end = self._ends[start]
        if not self._is_in_line[start] or end - start > room:
            return "", start
        line = "".join(self._gapped(start, end))
        return (line, end) if len(line) <= room else ("", start)

    def _gapped(self, start: int, end: int) -> Iterator[str]:
        """Yield the tokens with spaces after commas and colons, and inside non-empty braces."""
        previous = ""
        for piece in self.texts[start : end + 1]:
            is_inside = (previous == "{" and piece != "}") or (piece == "}" and previous != "{")
            if is_inside or previous in {",", ":"}:
                yield " "
            yield piece
            previous = piece


def _lines(pieces: _Pieces) -> Iterator[str]:
    texts = pieces.texts
    depth = column = at = 0
    while at < len(texts):
        piece = texts[at]
        if piece in _OPENING:
            line, end = pieces.in_line(at, WIDTH - column)
            if line:
                piece, at = line, end
            else:
                depth += 1
        yield piece
        column += len(piece)
        at += 1
        following = texts[at] if at < len(texts) else ""
        if piece == ":":
            yield " "
            column += 1
        elif piece in _BREAKING or following in _CLOSING:
            depth -= following in _CLOSING
            yield "\n" + _INDENT * depth
            column = depth * len(_INDENT)
