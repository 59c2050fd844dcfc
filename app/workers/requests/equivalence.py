"""Requests to compare the texts of two grammars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from engine.analysis.language_comparison import LanguageComparison


@dataclass(frozen=True, slots=True)
class CompareGrammars(WorkerRequest["GrammarsAnswer"]):
    """Compare the texts of a grammar with those of what it became."""

    before: CompileRequest
    after: CompileRequest


@dataclass(frozen=True, slots=True)
class GrammarsAnswer:
    """The comparison of two grammars, or the sentence that says why there is none.

    Attributes:
        comparison: the first grammar is the one before; None if one of them has an error or exceeds a limit.
        error: a sentence; empty if there is a comparison.
    """

    request: CompareGrammars
    comparison: LanguageComparison | None = None
    error: str = ""
