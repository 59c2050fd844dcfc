"""Messages about other notations: frozen, picklable, and light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.source import Diagnostic, Span

if TYPE_CHECKING:
    from app.workers.compile_messages import CompileRequest


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """Convert a compiled grammar to GBNF, with the source span of each rule.

    Attributes:
        spelling: `plain` or `any`, see `engine.export.Spelling`.
    """

    compiled: CompileRequest
    spelling: str = "plain"


@dataclass(frozen=True, slots=True)
class GeneratedRule:
    """A rule of a generated text: like `engine.export.WrittenRule`, which is not light to import."""

    name: str
    span: Span
    places: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class GenerateAnswer:
    """A generated text, or why there is none.

    Attributes:
        revision: of the source document.
        rules: in the order of the text.
        notes: the texts of the source that it does not match, one sentence each.
        error: a sentence; empty if there is a text.
        place: the source span that causes the error.
    """

    revision: int
    spelling: str = "plain"
    text: str = ""
    rules: tuple[GeneratedRule, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class ConvertRequest:
    """Convert a compiled grammar to another notation, and check the result against the original.

    Attributes:
        notation: the target notation.
        dialect: the target dialect of a regex.
        spelling: the spelling of a schema's strings and numbers.
        depth: the number of levels at which recursion is cut; None to refuse recursion.
        number: incremented with each request, to recognise a late answer.
    """

    compiled: CompileRequest
    notation: str
    dialect: str = "python"
    spelling: str = "plain"
    depth: int | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class ConvertAnswer:
    """A text in another notation, or why there is none.

    Attributes:
        losses: what it lacks of the original, one sentence each.
        checked: how it was checked against the original, a sentence.
        error: one or two sentences; empty if there is a text.
        can_close: whether the conversion works for the schema without additional properties.
    """

    number: int
    text: str = ""
    losses: tuple[str, ...] = ()
    checked: str = ""
    error: str = ""
    can_close: bool = False


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Diagnose a text in another notation, which `compiled` has."""

    compiled: CompileRequest
    number: int = 0


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The findings of a text in another notation."""

    number: int
    diagnostics: tuple[Diagnostic, ...] = ()
