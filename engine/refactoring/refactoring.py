"""The interface of a refactoring: a change of a grammar's text that keeps its language.

A refactoring edits the text where it stands, so formatting and comments elsewhere are kept, and never drops what it
cannot carry over: it refuses, and says what is in the way. Whether the language was kept is not its own judgement:
`engine.refactoring.proof` compares both texts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.editing import Edit, apply_edits
from engine.notations.notation import Notation
from engine.source import EngineError, GrammarError, Span


class RefactoringError(EngineError):
    """A refactoring cannot be done there; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class GrammarSelection:
    """A text with what is selected in it.

    Attributes:
        notation: the id of its notation.
        text: the text, which compiles.
        selected: the selection, in code points; an empty span for the cursor.
        options: the compile options.
        name: the name of what is made; empty for a proposed one.
    """

    notation: str
    text: str
    selected: Span
    options: CompileOptions = field(default_factory=CompileOptions)
    name: str = ""

    def of(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[span.start : span.end]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The result of a refactoring.

    Attributes:
        edits: the changes of the text.
        notes: sentences about what else it does.
        name: the name of what was made; empty for nothing.
    """

    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()
    name: str = ""


class Refactoring(ABC):
    """A change of a grammar's text that keeps its language.

    Attributes:
        id: its name on the command line and in commands.
        makes_name: whether it makes something that gets a name.
    """

    id: ClassVar[str]
    makes_name: ClassVar[bool] = False

    @abstractmethod
    def applies_to(self, notation: Notation) -> bool:
        """Return whether texts of a notation can have what it changes."""

    def keeps_language(self, notation: Notation) -> bool:
        """Return whether the language is the same by construction, whatever the text; if not, only a proof can say."""
        del notation
        return False

    @abstractmethod
    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits of a text.

        Raises:
            RefactoringError: it cannot be done there.
            LimitExceededError: the text exceeds a limit.
        """


def refactored(refactoring: Refactoring, selection: GrammarSelection) -> tuple[str, Rewrite]:
    """Return the text after a refactoring, with its edits.

    Args:
        refactoring: the refactoring.
        selection: the text.

    Raises:
        RefactoringError: it cannot be done there, or the text has an error.
        LimitExceededError: the text exceeds a limit.
    """
    notation = NOTATIONS[selection.notation]
    if not refactoring.applies_to(notation):
        raise RefactoringError("errors.refactoring.notation", notation=notation.title)
    try:
        rewrite = refactoring.rewrite(selection)
    except GrammarError as error:
        raise RefactoringError("errors.refactoring.invalid", reason=error.diagnostics[0].message) from error
    after = apply_edits(selection.text, rewrite.edits)
    if after == selection.text:
        raise RefactoringError("errors.refactoring.nothing")
    return after, rewrite
