"""The samples of failed requests, one TOML file each in `resources/failures/samples`.

Each rebuilds a failure of public threads with a grammar and an output of its own.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import msgspec

from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.failures.diagnosis import Cause
from engine.diagnosis.intake import PastedText, TextKind, read_failure
from engine.document.content import DocumentFile, GrammarPart, ModelPart


class FailureSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A failed request that can be checked again.

    Attributes:
        title: the symptom in a few words.
        story: what happened, in a sentence.
        threads: the public threads, as `project#number`.
        cause: the cause that the diagnosis finds.
        notation, grammar: the grammar.
        server: the server or engine; empty if it does not matter.
        finish: the reason for the end of the output.
        budget: the token budget; 0 if it is unknown.
        request, log: the request without its grammar, and the server's log.
        response: the server's response, for the tokens of the output with their probabilities.
        output: the output; None if the failure has none.
    """

    title: str
    story: str
    threads: tuple[str, ...]
    cause: Cause
    notation: str
    grammar: str
    server: str = ""
    finish: FinishReason = FinishReason.UNKNOWN
    budget: int = 0
    request: str = ""
    log: str = ""
    response: str = ""
    output: str | None = None

    def document(self, model: str) -> DocumentFile:
        """Return a new document with its grammar and a model."""
        return DocumentFile(
            title=self.title, grammar=GrammarPart(self.notation, self.grammar), model=ModelPart(spec=model)
        )

    def case(self) -> FailureCase:
        """Return it as a failed request."""
        texts = ((self.request, TextKind.REQUEST), (self.log, TextKind.LOG), (self.response, TextKind.RESPONSE))
        case = read_failure(PastedText(text, kind) for text, kind in texts if text)
        return replace(
            case,
            constraints=(RequestConstraint(self.notation, self.grammar),),
            server=self.server or case.server,
            finish=self.finish or case.finish,
            max_tokens=self.budget or case.max_tokens,
            output=case.output if self.output is None else self.output.encode(),
        )


def failure_samples() -> tuple[FailureSample, ...]:
    """Return all samples, in the order of their numbers."""
    folder = files("resources") / "failures" / "samples"
    named = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(msgspec.toml.decode(file.read_bytes(), type=FailureSample) for file in named)
