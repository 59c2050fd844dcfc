"""The exceptions that the engine raises deliberately. Any other exception is a bug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.source.diagnostic import Diagnostic
    from engine.source.text import SourceText, Span


_MAX_RENDERED: Final = 20
"""The number of diagnostics in the message of a `GrammarError`; all of them are in its `diagnostics`."""


class EngineError(Exception):
    """The base class of the engine's exceptions."""


class InvariantError(EngineError):
    """An invariant of a value does not hold."""


class CancelledError(EngineError):
    """The work was cancelled with a `CancelToken`."""

    def __init__(self) -> None:
        super().__init__("cancelled")


class LimitExceededError(EngineError):
    """A compile or a step exceeded a configured limit.

    Attributes:
        what: the limited quantity.
        given: its value, or the count at which the work stopped.
        limit: the largest allowed value.
        name: the field of `Limits` that sets the limit; empty if none does.
        span: the part of the source that is concerned; None if it is not known.
        where: the same as text, such as a JSON Pointer; may be empty.
    """

    def __init__(self, what: str, *, given: int, limit: int, name: str = "") -> None:
        super().__init__(f"{what}: {given:,} exceeds the limit of {limit:,}")
        self.what, self.given, self.limit, self.name = what, given, limit, name
        self.span: Span | None = None
        self.where = ""

    def locate(self, span: Span, where: str = "") -> None:
        """Set the part of the source that is concerned; only the first call, from the innermost part, has an effect."""
        if self.span is None:
            self.span, self.where = span, where

    @property
    def remedy(self) -> str:
        """Return how to raise the limit on the command line; empty if it cannot be raised."""
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
        lines = [d.render(source) for d in diagnostics[:_MAX_RENDERED]]
        if len(diagnostics) > _MAX_RENDERED:
            lines.append(f"and {len(diagnostics) - _MAX_RENDERED:,} more findings")
        super().__init__("\n".join(lines))
        self.diagnostics = tuple(diagnostics)
        self.source = source

    def __reduce__(self) -> tuple[object, ...]:
        return GrammarError, (self.diagnostics, self.source)
