"""A grammar's text and places in it.

Offsets count code points, as Python indexes a `str`. A text widget that counts
UTF-16 units converts at its own border.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from engine.source.errors import InvariantError

_LINE_FEED = re.compile("\n")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range `[start, end)` of code points in a source text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise InvariantError(f"a span cannot run from {self.start} to {self.end}")

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end

    def cover(self, other: Span) -> Span:
        """The smallest span that holds both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of one grammar and the name that messages give it."""

    text: str
    name: str = "<grammar>"
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = (0, *(found.end() for found in _LINE_FEED.finditer(self.text)))
        object.__setattr__(self, "_line_starts", starts)

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of a code point, both counted from 1."""
        line = bisect_right(self._line_starts, offset) - 1
        return line + 1, offset - self._line_starts[line] + 1

    def excerpt(self, span: Span) -> str:
        """The text that a span covers."""
        return self.text[span.start : span.end]
