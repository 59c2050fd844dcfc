"""A JSON text by two blanks a level; keys, numbers and escapes stay as they are written.

What its writer put into one line stays in one, if it fits: a small schema is read
best as `{ "type": "string" }`. A text that is one single line was not laid out by
anybody, so there only lists of plain values stay together.
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
    """A well-formed JSON text, formatted."""
    written = "".join(_lines(_Pieces(text)))
    return written + "\n" if text.endswith("\n") else written


class _Pieces:
    """The pieces of a text between blanks, and which of them may stand in a line."""

    def __init__(self, text: str) -> None:
        found = list(_PIECE.finditer(text))
        self.texts = [piece.group() for piece in found]
        self._ends = [-1] * len(found)  # of what opens, the number of what closes it
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
        """What opens at a number in one line, and the number of its end; nothing where it may not or does not fit."""
        end = self._ends[start]
        if not self._is_in_line[start] or end - start > room:
            return "", start
        line = "".join(self._gapped(start, end))
        return (line, end) if len(line) <= room else ("", start)

    def _gapped(self, start: int, end: int) -> Iterator[str]:
        """With a blank behind commas and colons, and inside of braces that hold something."""
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
