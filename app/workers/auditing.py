"""Audits of tokenizers, in the decode group, which has the loaded one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.workers.loop import Job, handles
from app.workers.protocol import sentence
from app.workers.requests.audit import AuditAnswer, AuditedEnd, AuditedFault, AuditTokenizer
from engine.compile import compile_grammar
from engine.models import model_files
from engine.source import CancelledError, EngineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.workers.decode_state import DecodeState
    from engine.compile import CompiledGrammar
    from engine.diagnosis.tokenizer_audit import TokenizerAudit


class AuditHandler:
    """Audits the tokenizer of the session, or one on the disk.

    Args:
        state: the state of the decode group.
        spec: returns the spec of the loaded model.
    """

    def __init__(self, state: DecodeState, spec: Callable[[], str]) -> None:
        self._state, self._spec = state, spec

    @handles(AuditTokenizer)
    def _audit(self, request: AuditTokenizer, job: Job) -> AuditAnswer:
        from engine.diagnosis.tokenizer_audit import audit_tokenizer  # start-up time

        session, path = self._state.session, Path(request.path)
        if session is None and not request.path:
            return AuditAnswer(request, error=ui_text("workers.audit.no_tokenizer"))
        grammar = self._grammar(request, job)
        try:
            if request.path or session is None:
                return _answer(request, path.name, audit_tokenizer(path, grammar=grammar), grammar)
            model, files = session.model, model_files(self._spec())
            return _answer(
                request, model.name, audit_tokenizer(model.vocabulary, files=files, grammar=grammar), grammar
            )
        except CancelledError:
            raise
        except EngineError as error:
            return AuditAnswer(request, error=sentence(error).rstrip("."))

    def _grammar(self, request: AuditTokenizer, job: Job) -> CompiledGrammar | None:
        """Return the grammar of the editor; None if it has errors."""
        compiled = request.compiled
        if self._state.grammar is not None and self._state.grammar_revision == compiled.revision:
            return self._state.grammar
        try:
            return compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=job.cancel)
        except CancelledError:
            raise
        except EngineError:
            return None


def _answer(request: AuditTokenizer, name: str, found: TokenizerAudit, grammar: CompiledGrammar | None) -> AuditAnswer:
    from engine.diagnosis.tokenizer_audit import audit_lines, table_line, token_label  # start-up time

    vocabulary = found.vocabulary
    return AuditAnswer(
        request,
        name,
        table_line(found),
        found.width,
        tuple(token_label(vocabulary, index) for index in sorted(vocabulary.eos_ids)),
        tuple(
            AuditedEnd(each.place, token_label(vocabulary, index), index in vocabulary.eos_ids)
            for each in found.ends
            for index in each.ids
        ),
        tuple(
            AuditedFault(each.code, each.sentence, each.fix, each.needs_change, each.span) for each in found.findings
        ),
        "\n".join([name, *audit_lines(found, None if grammar is None else grammar.source)]),
        grammar is not None,
    )
