"""The errors that the engine raises on purpose. Anything else is a bug and is left to raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.source.diagnostic import Diagnostic
    from engine.source.text import SourceText, Span


_MOST_RENDERED: Final = 20
"""Findings in the message of a `GrammarError`; all of them are in its `diagnostics`."""


class EngineError(Exception):
    """Whatever the engine refuses on purpose."""


class InvariantError(EngineError):
    """A value was built that contradicts itself."""


class CancelledError(EngineError):
    """The work was cancelled by whoever asked for it."""

    def __init__(self) -> None:
        super().__init__("cancelled")


class LimitExceededError(EngineError):
    """A compile or a step outgrew a configured limit.

    Attributes:
        what: what there is too much of.
        given: how much there is, or as much as was counted until the work stopped.
        limit: how much there may be.
        name: the field of `Limits` that raises it; empty if none does.
        span: the part of the source that it was about; None where that is not known.
        where: the same in words, such as a JSON Pointer; empty where it has none.
    """

    def __init__(self, what: str, *, given: int, limit: int, name: str = "") -> None:
        super().__init__(f"{what}: {given:,} exceeds the limit of {limit:,}")
        self.what, self.given, self.limit, self.name = what, given, limit, name
        self.span: Span | None = None
        self.where = ""

    def locate(self, span: Span, where: str = "") -> None:
        """Say which part of the source it is about; the first call, from the innermost part, counts."""
        if self.span is None:
            self.span, self.where = span, where

    @property
    def remedy(self) -> str:
        """How to raise the limit on the command line; empty if it cannot be raised."""
        return f"raise it with --limit {self.name}={max(self.given, 2 * self.limit)}" if self.name else ""

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}, at {self.where}" if self.where else message

    def __reduce__(self) -> tuple[object, ...]:
        return _limit_exceeded, (self.what, self.given, self.limit, self.name, self.span, self.where)


def _limit_exceeded(what: str, given: int, limit: int, name: str, span: Span | None, where: str) -> LimitExceededError:
    error = LimitExceededError(what, given=given, limit=limit, name=name)
    error.span, error.where = span, where
    return error


class GrammarError(EngineError):
    """A grammar does not compile.

    Attributes:
        diagnostics: every finding, at least one of them an error, in source order.
        source: the text that they are about.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        lines = [d.render(source) for d in diagnostics[:_MOST_RENDERED]]
        if len(diagnostics) > _MOST_RENDERED:
            lines.append(f"and {len(diagnostics) - _MOST_RENDERED:,} more findings")
        super().__init__("\n".join(lines))
        self.diagnostics = tuple(diagnostics)
        self.source = source

    def __reduce__(self) -> tuple[object, ...]:
        return GrammarError, (self.diagnostics, self.source)
