"""What is asked of the decode process without moving the session: how things stand, and what would be.

An older question of a kind that nobody waits for any more gives way to a newer one.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.document import Document
from app.jobs import JobGroup
from app.session.compiling import CompiledGrammarView
from app.workers.compile_messages import CompileRequest
from app.workers.decode_messages import (
    DecodeView,
    LookupAnswer,
    ManyAnswer,
    SampleMany,
    TokensAnswer,
    TokensRequest,
    WhyAnswer,
)
from app.workers.export_messages import ExportAnswer, ExportOptionsMessage, ExportRequest
from app.workers.replaying import AssessAnswer, AssessOutput, ReplayAnswer, ReplayOutput, ReplayQuestion
from app.workers.sharing import ShareAnswer

_LOST = "The check was stopped. Change the output to check it again."
_ASSESS_DELAY_MS = 150  # whoever steps faster does not read how far the end is


class DecodeQueries(QObject):
    """Asks, and tells the answers; what it asks about is the last view.

    Signals:
        explained(WhyAnswer), found(LookupAnswer), sampled(ManyAnswer), exported(ExportAnswer), shared(ShareAnswer):
            answers.
        replayed(ReplayAnswer): what is wrong with an output that was asked about.
        assessed(AssessAnswer): how far the end is, a moment after a step, and why the output ended.
        tokens_told(TokensAnswer): which tokens may come at a state of the drawing.
        sampling_stopped(why): the many seeds end before their last answer.
    """

    explained = Signal(object)
    found = Signal(object)
    replayed = Signal(object)
    assessed = Signal(object)
    sampled = Signal(object)
    tokens_told = Signal(object)
    sampling_stopped = Signal(str)
    exported = Signal(object)
    shared = Signal(object)

    def __init__(self, document: Document, group: JobGroup, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._group = group
        self._view = DecodeView()
        self._drawn: CompiledGrammarView | None = None
        self._assessment = QTimer(self, singleShot=True, interval=_ASSESS_DELAY_MS)
        self._assessment.timeout.connect(self._assess)

    @property
    def view(self) -> DecodeView:
        """What the worker said last."""
        return self._view

    @property
    def is_running(self) -> bool:
        """Whether steps follow one another by themselves; then nobody reads how far the end is."""
        return False

    @property
    def is_sampling(self) -> bool:
        """Whether many seeds are being generated; other requests wait for them."""
        return any(isinstance(request, SampleMany) for request in self._group.pending)

    def tell_tokens(self, request: TokensRequest) -> None:
        """Ask which tokens may come at a place; what was asked before and is not answered yet is given up."""
        self._group.cancel(lambda older: isinstance(older, TokensRequest))
        self._group.submit(request)

    def replay(self, compiled: CompileRequest, question: ReplayQuestion) -> None:
        """Ask what is wrong with an output; an older question that waits is given up."""
        self._group.cancel(lambda request: isinstance(request, ReplayOutput))
        self._group.submit(ReplayOutput(compiled, question))

    def _tell_lost_check(self, *requests: Any) -> None:
        """Say that the output that was asked about last will not be judged, unless it is asked about anew."""
        lost = [request for request in requests if isinstance(request, ReplayOutput)]
        if lost and not any(isinstance(request, ReplayOutput) for request in self._group.pending):
            self.replayed.emit(ReplayAnswer(lost[-1].question, error=_LOST))

    def sample_many(self, count: int) -> None:
        """Generate many outputs, seeded upwards from the sampler's seed."""
        self._group.cancel(lambda request: isinstance(request, SampleMany))
        self._group.submit(SampleMany(count, self._document.content.sampler.seed))

    def cancel_sampling(self) -> None:
        """Keep the outcomes so far."""
        self._group.cancel(lambda request: isinstance(request, SampleMany))

    def export(self, target: str, path: str, told: ExportOptionsMessage, number: int) -> None:
        """Ask for an export over the model's vocabulary; without a path, for how it would look."""
        if (drawn := self._drawn) is not None:
            self.cancel_export()
            self._group.submit(ExportRequest(drawn.request, target, path, told, number))

    def cancel_export(self) -> None:
        """Give up the export that is under way."""
        self._group.cancel(lambda request: isinstance(request, ExportRequest))

    def _question(self, request: Any) -> None:
        """Ask about the session without moving it; a newer question of a kind replaces one that waits.

        The search for how far the end is makes way and begins again afterwards: nobody waits for it.
        """
        was_assessing = any(isinstance(older, AssessOutput) for older in self._group.pending)
        self._group.cancel(lambda older: isinstance(older, (AssessOutput, type(request))))
        if was_assessing:
            self._assessment.start()
        self._group.submit(request)

    def _assess(self) -> None:
        """Ask how far the end is, unless something else goes on; whatever is asked for next takes its place."""
        if self._view.position is None or self.is_running:
            return
        if self._group.pending:
            self._assessment.start()  # what it waits for may bring another view, and then this one is not asked about
        else:
            self._group.submit(AssessOutput())

    def _end_assessment(self) -> None:
        """Nothing waits for a search that nobody is going to read."""
        self._assessment.stop()
        self._group.cancel(lambda request: isinstance(request, AssessOutput))

    def _tell(self, answer: Any) -> None:
        match answer:
            case WhyAnswer():
                self.explained.emit(answer)
            case LookupAnswer():
                self.found.emit(answer)
            case ReplayAnswer():
                self.replayed.emit(answer)
            case AssessAnswer():
                if answer.at == self._view.trace.current:
                    self.assessed.emit(answer)
            case TokensAnswer():
                self.tokens_told.emit(answer)
            case ManyAnswer():
                self.sampled.emit(answer)
            case ExportAnswer():
                self.exported.emit(answer)
            case ShareAnswer():
                self.shared.emit(answer)
