"""The text of a grammar, and spans in it.

Offsets count code points, like indices of a `str`. A text widget that counts
UTF-16 units converts them itself.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from engine.source.arguments import require
from engine.source.errors import InvariantError


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range `[start, end)` of code points in a source text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        try:
            is_range = 0 <= self.start <= self.end
        except TypeError:
            raise TypeError("start and end of a span must be integers") from None
        if not is_range:
            raise InvariantError(f"a span cannot run from {self.start} to {self.end}")

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end

    def cover(self, other: Span) -> Span:
        """Return the smallest span that contains both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a grammar, and its name in messages."""

    text: str
    name: str = "<grammar>"

    def __post_init__(self) -> None:
        require("text", self.text, str, "a string")
        require("name", self.name, str, "a string")

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and column of a code point, both counted from 1."""
        starts = _line_starts(self.text)
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def excerpt(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[span.start : span.end]


@lru_cache(maxsize=4)  # most diagnostics are about the same text
def _line_starts(text: str) -> list[int]:
    """Return the offsets at which lines begin; only a line feed ends a line."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
