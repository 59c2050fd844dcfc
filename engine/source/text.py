"""The text of a grammar, spans in it, and diagnostics about it.

Offsets count code points, like indices of a `str`. A text widget that counts
UTF-16 units converts them itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from engine.source.arguments import require
from engine.source.errors import EngineError, InvariantError

_MAX_RENDERED: Final = 20
"""The number of diagnostics in the message of a `GrammarError`; all of them are in its `diagnostics`."""


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
            raise InvariantError("errors.invariant.span", start=self.start, end=self.end)

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end

    def moved(self, by: int) -> Span:
        """Return the span of the same length, so many code points further on."""
        return Span(self.start + by, self.end + by) if by else self

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


class Severity(StrEnum):
    """The severity of a diagnostic. Only errors stop a compile."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A diagnostic: what is wrong, where, and what to do.

    Attributes:
        code: a stable, kebab-case name, such as `regex-unclosed-group`.
        severity: only `Severity.ERROR` stops a compile.
        span: the position in the source.
        message: what is wrong, one sentence without a full stop.
        hint: what to do about it, one sentence; may be empty.
    """

    code: str
    severity: Severity
    span: Span
    message: str
    hint: str = ""

    def render(self, source: SourceText) -> str:
        """Format the diagnostic on one line, as compilers do: `name:line:column: severity: message`."""
        line, column = source.line_column(self.span.start)
        hint = f" ({self.hint})" if self.hint else ""
        return f"{source.name}:{line}:{column}: {self.severity}: {self.message}{hint} [{self.code}]"


class GrammarError(EngineError):
    """A grammar does not compile.

    Attributes:
        diagnostics: every finding, at least one of them an error, in source order.
        source: the text that they are about.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        lines = [d.render(source) for d in diagnostics[:_MAX_RENDERED]]
        if (count := len(diagnostics) - _MAX_RENDERED) > 0:
            super().__init__("errors.grammar.more", findings="\n".join(lines), count=count)
        else:
            super().__init__("errors.grammar.findings", findings="\n".join(lines))
        self.diagnostics = tuple(diagnostics)
        self.source = source


def shortened(text: str, most: int = 48) -> str:
    """Return a text, or its beginning and an ellipsis if it has more than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def quoted(text: str) -> str:
    """Put a text between backticks as Markdown does: between more of them if the text contains some."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence}{text}{fence}" if fence == "`" else f"{fence} {text} {fence}"


def common_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Return the number of equal items at the beginning of two sequences."""
    first, second = (tuple(one) if isinstance(one, list) else one for one in (first, second))
    equal, most = 0, min(len(first), len(second))
    while equal < most:  # halving needs no loop over the items in Python
        middle = (equal + most + 1) // 2
        if first[equal:middle] == second[equal:middle]:
            equal = middle
        else:
            most = middle - 1
    return equal
