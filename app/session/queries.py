"""Queries to the decode process that do not move the session.

Their answers take the model's time, so a newer query replaces an older one of its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.catalogue import ui_text
from app.document import Document
from app.jobs import JobGroup, Loss, LostRequest
from app.session.compiling import CompiledGrammarView
from app.workers.protocol import Notice, Progress, WorkerRequest
from app.workers.requests.audit import AuditAnswer, AuditTokenizer
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import (
    Assessment,
    DecodeView,
    ForcedText,
    GivenNotice,
    Lookup,
    LookupAnswer,
    ManyAnswer,
    ReplayAnswer,
    ReplayOutput,
    ReplayQuestion,
    Respellings,
    SampleMany,
    ShareAnswer,
    ShareTrace,
    TokensAnswer,
    TokensRequest,
    Why,
    WhyAnswer,
)
from app.workers.requests.export import ExportAnswer, ExportOptionsMessage, ExportWithModel
from app.workers.requests.forced import (
    CompareSpellings,
    FindForced,
    ListIndex,
    MeasureStrategies,
)
from app.workers.requests.scoring import AttributePrompt, ScoreAnswer, ScoreOutput
from app.workers.requests.strategies import CompareStrategies, ContinuationRequest, SearchTexts

A = TypeVar("A")


class ForcedQueries(QObject):
    """Requests what panes list and compare with the model: forced runs, and strategies that draw texts."""

    def __init__(self, group: JobGroup, parent: QObject) -> None:
        super().__init__(parent)
        self._group = group

    def ask(self, request: WorkerRequest[A], show: Callable[[A], object], stop: Callable[[str], object]) -> None:
        """Submit a request; replaces an older one of its kind.

        Args:
            request: the request.
            show: receives the intermediate answers and the last one.
            stop: receives the reason if there will be no answer, and no newer request of this kind is pending.
        """
        kind = type(request)
        self.cancel(kind)
        asked = self._group.ask(request, self).then(show).reported(show)
        asked.lost(lambda lost: None if self.is_asking(kind) else stop(lost.why))

    def cancel(self, kind: type) -> None:
        """Cancel the requests of a kind."""
        self._group.cancel(lambda request: isinstance(request, kind))

    def cancel_all(self) -> None:
        """Cancel all requests that take the model's time."""
        forced = CompareSpellings, MeasureStrategies, FindForced, ListIndex
        for kind in (*forced, CompareStrategies, ContinuationRequest, SearchTexts, AttributePrompt):
            self.cancel(kind)

    def is_asking(self, kind: type) -> bool:
        """Return whether a request of a kind is pending."""
        return any(isinstance(request, kind) for request in self._group.pending)


class DecodeQueries(QObject):
    """Sends queries about the last view and emits their answers, and the notices of the decode process about it.

    Args:
        document: the open document.
        group: the decode process.
        view: returns the last view.
        parent: the owner.

    Signals:
        explained(WhyAnswer), sampled(ManyAnswer), exported(ExportAnswer): the answers.
        replayed(ReplayAnswer): the verdict on a pasted output.
        audited(AuditAnswer): the audit of a tokenizer.
        scored(ScoreAnswer), scoring_progressed(Progress): the probabilities of a pasted output.
        assessed(Assessment), forced_text_found(ForcedText), respelled(Respellings), given_found(GivenNotice): what a
            step does not wait for.
        sampling_stopped(why): the generation of many seeds ended before its last answer.
    """

    explained = Signal(WhyAnswer)
    replayed = Signal(ReplayAnswer)
    audited = Signal(AuditAnswer)
    scored = Signal(ScoreAnswer)
    scoring_progressed = Signal(Progress)
    assessed = Signal(Assessment)
    forced_text_found = Signal(ForcedText)
    respelled = Signal(Respellings)
    given_found = Signal(GivenNotice)
    sampled = Signal(ManyAnswer)
    sampling_stopped = Signal(str)
    exported = Signal(ExportAnswer)

    def __init__(
        self,
        document: Document,
        group: JobGroup,
        view: Callable[[], DecodeView],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._group = group
        self._view = view
        self._drawn: CompiledGrammarView | None = None
        self._forced_text: ForcedText | None = None
        group.noticed.connect(self._on_noticed)

    @property
    def is_sampling(self) -> bool:
        """Return whether many seeds are being generated; other requests wait for them."""
        return any(isinstance(request, SampleMany) for request in self._group.pending)

    @property
    def forced_text(self) -> bytes | None:
        """Return the text that is forced at the position of the last view; None while it is unknown."""
        found = self._forced_text
        return found.data if found is not None and found.is_about(self._view()) else None

    def set_grammar(self, drawn: CompiledGrammarView) -> None:
        """Set the grammar that exports use."""
        self._drawn = drawn

    def list_tokens(self, request: TokensRequest, show: Callable[[TokensAnswer], object]) -> None:
        """Request the tokens that are allowed at a state of the drawing; replaces an older request."""
        self._group.cancel(lambda older: isinstance(older, TokensRequest))
        self._group.ask(request, self).then(show)

    def replay(self, compiled: CompileRequest, question: ReplayQuestion) -> None:
        """Request the verdict on an output; replaces an older request."""
        self._group.cancel(lambda request: isinstance(request, ReplayOutput))
        asked = self._group.ask(ReplayOutput(compiled, question), self).then(self.replayed.emit)
        asked.lost(lambda _lost: self._report_lost_check(question))

    def _report_lost_check(self, question: ReplayQuestion) -> None:
        """Report that a pasted output will not be judged, unless another one is."""
        if not any(isinstance(request, ReplayOutput) for request in self._group.pending):
            self.replayed.emit(ReplayAnswer(question, error=ui_text("session.lost.check")))

    def audit(self, compiled: CompileRequest, path: str = "") -> None:
        """Request the audit of a tokenizer; replaces an older request.

        Args:
            compiled: the grammar.
            path: a file or folder of a tokenizer; empty for the loaded model.
        """
        self.cancel_audit()
        request = AuditTokenizer(compiled, path)
        asked = self._group.ask(request, self).then(self.audited.emit)
        asked.lost(lambda lost: self._report_lost_audit(request, lost))

    def cancel_audit(self) -> None:
        """Cancel the audit of a tokenizer."""
        self._group.cancel(lambda request: isinstance(request, AuditTokenizer))

    def _report_lost_audit(self, request: AuditTokenizer, lost: LostRequest) -> None:
        if lost.cause is not Loss.CANCELLED:
            self.audited.emit(AuditAnswer(request, error=ui_text("session.lost.audit")))

    def score(self, request: ScoreOutput) -> None:
        """Request the probabilities of a pasted output; replaces an older request."""
        self.cancel_scoring()
        asked = self._group.ask(request, self).then(self.scored.emit)
        asked.progressed(self.scoring_progressed.emit).lost(lambda _lost: self._report_lost_scoring(request))

    def cancel_scoring(self) -> None:
        """Cancel the scoring of an output."""
        self._group.cancel(lambda request: isinstance(request, ScoreOutput))

    def _report_lost_scoring(self, request: ScoreOutput) -> None:
        if not any(isinstance(one, ScoreOutput) for one in self._group.pending):
            self.scored.emit(ScoreAnswer(request, error=ui_text("session.lost.score")))

    def sample_many(self, count: int) -> None:
        """Generate many outputs with consecutive seeds, starting at the sampler's seed."""
        self._group.cancel(lambda request: isinstance(request, SampleMany))
        asked = self._group.ask(SampleMany(count, self._document.content.sampler.seed), self)
        asked.then(self.sampled.emit).reported(self.sampled.emit).lost(self._on_sampling_lost)

    def cancel_sampling(self) -> None:
        """Cancel the sampling and keep the outcomes so far."""
        self._group.cancel(lambda request: isinstance(request, SampleMany))

    def export(self, target: str, path: str, options: ExportOptionsMessage, number: int) -> None:
        """Request an export that needs the model's vocabulary.

        Args:
            target: the name of the export target.
            path: the file to write; empty for a preview.
            options: the export options.
            number: the number of the request, which its answer repeats.
        """
        if (drawn := self._drawn) is not None:
            self.cancel_export()
            request = ExportWithModel(drawn.request, target, path, options, number)
            self._group.ask(request, self).then(self.exported.emit)

    def cancel_export(self) -> None:
        """Cancel the running export."""
        self._group.cancel(lambda request: isinstance(request, ExportWithModel))

    def explain(self, token_id: int) -> None:
        """Ask why a token may or may not come next; a newer query replaces one that waits."""
        self._group.cancel(lambda older: isinstance(older, Why))
        self._group.ask(Why(token_id), self).then(self.explained.emit)

    def look_up(self, text: str, show: Callable[[LookupAnswer], object]) -> None:
        """Search the vocabulary; a newer query replaces one that waits."""
        self._group.cancel(lambda older: isinstance(older, Lookup))
        self._group.ask(Lookup(text), self).then(show)

    def share(self, request: ShareTrace, report: Callable[[ShareAnswer], object]) -> None:
        """Request a web page of a trace."""
        self._group.ask(request, self).then(report)

    def _on_noticed(self, notice: Notice) -> None:
        """Emit a notice about the position of the last view; drop any other one."""
        match notice:
            case Assessment() if notice.is_about(self._view()):
                self.assessed.emit(notice)
            case Respellings() if notice.is_about(self._view()):
                self.respelled.emit(notice)
            case GivenNotice() if notice.is_about(self._view()):
                self.given_found.emit(notice)
            case ForcedText() if notice.is_about(self._view()):
                self._forced_text = notice
                self.forced_text_found.emit(notice)

    def _on_sampling_lost(self, lost: LostRequest) -> None:
        if not self.is_sampling:
            self.sampling_stopped.emit(lost.why)
