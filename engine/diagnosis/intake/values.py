"""Results of reading pasted texts, and questions about unclear ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from engine.diagnosis.case import FailureCase
from engine.notations import NOTATIONS
from engine.source import EngineError
from engine.source.catalogue import catalogue_text, has_text


class TextKind(StrEnum):
    """The kinds of pasted texts."""

    ANY = ""  # to be recognised
    REQUEST = "request"
    RESPONSE = "response"
    LOG = "log"
    OUTPUT = "output"
    GRAMMAR = "grammar"
    PROGRAM = "program"  # of Pydantic, Zod and the like; it is not run
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PastedText:
    """A text with its kind, as far as it is known.

    Attributes:
        text: the text.
        kind: its kind.
        notation: of a grammar: its notation; empty to recognise it.
    """

    text: str | bytes
    kind: TextKind = TextKind.ANY
    notation: str = ""


@dataclass(frozen=True, slots=True)
class IntakeQuestion:
    """A question about a text that can be read in several ways.

    Attributes:
        id: the name under which the answer is given.
        key: its name in the catalogue (`intake.question`).
        options: the possible answers; a notation, a kind of text, or the name of a tool.
    """

    id: str
    key: str
    options: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the question."""
        return catalogue_text(f"intake.question.{self.key}")

    def label(self, option: str) -> str:
        """Return the label of an answer."""
        if option in NOTATIONS:
            return catalogue_text(f"common.notation.{option}")
        return catalogue_text(f"intake.answer.{option}") if has_text(f"intake.answer.{option}") else option


@dataclass(frozen=True, slots=True)
class Intake:
    """Hold what was read from texts.

    Attributes:
        case: the failure that they describe; without what the open question is about.
        kinds: the kinds of the parts that were found, in the order of the texts.
        question: the first open question; None if everything is clear.
        sources: the parts that are files, which were named and not read.
    """

    case: FailureCase = field(default_factory=FailureCase)
    kinds: tuple[TextKind, ...] = ()
    question: IntakeQuestion | None = None
    sources: tuple[str, ...] = ()


class IntakeError(EngineError):
    """A text cannot be read."""


class UnclearInputError(IntakeError):
    """A text can be read in several ways.

    Attributes:
        question: the question that settles it.
    """

    def __init__(self, question: IntakeQuestion) -> None:
        options = ", ".join(question.options)
        super().__init__("errors.diagnosis.unclear", question=question.text, options=options)
        self.question = question


MOST_CHARACTERS: Final = 32_000_000
