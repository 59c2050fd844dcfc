"""What the window and a worker process say to each other of other notations: frozen, picklable, and light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.source import Diagnostic, Span

if TYPE_CHECKING:
    from app.workers.compile_messages import CompileRequest


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """Write what was compiled as GBNF, each rule with what it stands for.

    Attributes:
        spelling: `plain` or `any`, as `engine.export.Spelling` has them.
    """

    compiled: CompileRequest
    spelling: str = "plain"


@dataclass(frozen=True, slots=True)
class GeneratedRule:
    """A rule of a generated text: as `engine.export.WrittenRule`, which is not light to import."""

    name: str
    span: Span
    places: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class GenerateAnswer:
    """A generated text; or why there is none.

    Attributes:
        revision: of the document that it was made from.
        rules: in the order of the text.
        notes: which texts of the source it does not hold, a sentence each.
        error: a sentence; empty where there is a text.
        place: where in the source the reason for the error stands.
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
    """Write what was compiled in another notation, and hold it against the original.

    Attributes:
        notation: the other one.
        dialect: of a regex that is written.
        spelling: of a schema's strings and numbers.
        depth: at how many levels recursion is cut; None where it may not be.
        number: counted up by who asks, to know a late answer.
    """

    compiled: CompileRequest
    notation: str
    dialect: str = "python"
    spelling: str = "plain"
    depth: int | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class ConvertAnswer:
    """A text in another notation; or why there is none.

    Attributes:
        losses: what it does not have of the original, a sentence each.
        checked: how it was held against the original, a sentence.
        error: a sentence or two; empty where there is a text.
        can_close: whether there is a text of the schema without additional properties.
    """

    number: int
    text: str = ""
    losses: tuple[str, ...] = ()
    checked: str = ""
    error: str = ""
    can_close: bool = False


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Say how a text reads in another notation, which `compiled` has."""

    compiled: CompileRequest
    number: int = 0


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The findings of a text in another notation."""

    number: int
    diagnostics: tuple[Diagnostic, ...] = ()
