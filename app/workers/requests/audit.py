"""The request for the audit of a tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from engine.source import Span


@dataclass(frozen=True, slots=True)
class AuditTokenizer(WorkerRequest["AuditAnswer"]):
    """Audit a tokenizer, the files beside it, and the grammar of the editor, which may have errors.

    Attributes:
        path: a file or folder of a tokenizer; empty for the tokenizer of the loaded model.
    """

    compiled: CompileRequest
    path: str = ""


@dataclass(frozen=True, slots=True)
class AuditedEnd:
    """An end token that one entry of a file names.

    Attributes:
        place: the file and the entry.
        token: its id and name.
        is_known: whether the grammar ends an output with it.
    """

    place: str
    token: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class AuditedFault:
    """A finding.

    Attributes:
        needs_change: whether it is a fault, not a property of most tokenizers.
        span: the place in the grammar; None if it is not about one.
    """

    code: str
    sentence: str
    fix: str
    needs_change: bool
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class AuditAnswer:
    """An audit, or the sentence that says why there is none.

    Attributes:
        name: the name of the model, or of the file or folder.
        table: the numbers of ids by kind.
        width: the number of logits; None if it is unknown.
        known_ends: the end tokens of the grammar.
        ends: those that files name.
        text: all of it as plain text.
        has_grammar: whether the grammar compiled, so that it was audited too.
        error: a sentence; empty if there is an audit.
    """

    request: AuditTokenizer
    name: str = ""
    table: str = ""
    width: int | None = None
    known_ends: tuple[str, ...] = ()
    ends: tuple[AuditedEnd, ...] = ()
    faults: tuple[AuditedFault, ...] = ()
    text: str = ""
    has_grammar: bool = True
    error: str = ""
