"""Requests to refactor a grammar, and to compare the texts of two grammars."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from engine.analysis.language_comparison import LanguageComparison
    from engine.notations.editing import Edit
    from engine.refactoring.difference import DifferenceLine
    from engine.source import Span


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


@dataclass(frozen=True, slots=True)
class CompareTexts(WorkerRequest["TextsAnswer"]):
    """Compare the lines of two texts."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TextsAnswer:
    """The lines that differ; none if the texts are equal."""

    request: CompareTexts
    difference: tuple[DifferenceLine, ...]


@dataclass(frozen=True, slots=True)
class RefactorGrammar(WorkerRequest["RefactorAnswer"]):
    """Refactor a grammar.

    Attributes:
        compiled: the grammar.
        refactoring: the id of the refactoring.
        selected: the selection, in code points.
        name: the name of what is made; empty for a proposed one.
    """

    compiled: CompileRequest
    refactoring: str
    selected: Span
    name: str = ""

    def named(self, name: str) -> RefactorGrammar:
        """Return the request with another name."""
        return replace(self, name=name)


@dataclass(frozen=True, slots=True)
class RefactorAnswer:
    """A refactored grammar, or the sentence that says why there is none.

    Attributes:
        edits: the changes of the text.
        text: the text with them.
        difference: the lines that differ.
        notes: sentences about what else it does.
        name: the name of what was made.
        error: a sentence; empty if there is a result.
    """

    request: RefactorGrammar
    edits: tuple[Edit, ...] = ()
    text: str = ""
    difference: tuple[DifferenceLine, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""
    error: str = ""

    @property
    def compiled(self) -> CompileRequest:
        """Return the request to compile the text."""
        return replace(self.request.compiled, text=self.text)
