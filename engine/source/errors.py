"""The errors that the engine raises on purpose. Anything else is a bug and is left to raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.source.diagnostic import Diagnostic
    from engine.source.text import SourceText


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
    """

    def __init__(self, what: str, *, given: int, limit: int, name: str = "") -> None:
        super().__init__(f"{what}: {given:,} exceeds the limit of {limit:,}")
        self.what, self.given, self.limit, self.name = what, given, limit, name

    @property
    def remedy(self) -> str:
        """How to raise the limit on the command line; empty if it cannot be raised."""
        return f"raise it with --limit {self.name}={max(self.given, 2 * self.limit)}" if self.name else ""

    def __reduce__(self) -> tuple[object, ...]:
        return _limit_exceeded, (self.what, self.given, self.limit, self.name)


def _limit_exceeded(what: str, given: int, limit: int, name: str) -> LimitExceededError:
    return LimitExceededError(what, given=given, limit=limit, name=name)


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
