"""The test strings' side of a session: judged when the grammar, a string or the output changes.

The worker process starts with the first test string, or when somebody looks at
the pane: most windows never pay for it.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.document import Document
from app.jobs import JobGroup
from app.session.compiling import Compiling, Drawn
from app.session.decoding import Decoding
from app.workers.judge_messages import JudgeAnswer, JudgeRequest, SuggestAnswer, SuggestRequest
from engine.decoding.values import Trace
from engine.diagnosis.testing import ExpectedText, SuggestionKind

_DELAY_MS = 40  # edits of several strings at once are one question
_MOST_OUTPUTS = 16
_TRACE_DELAY_MS = 400  # nobody reads a coverage at every step of a run


class Judging(QObject):
    """Asks what the grammar makes of the test strings.

    Signals:
        judged(JudgeAnswer): verdicts and coverage.
        suggested(SuggestAnswer): texts to add.
        failed(Failed): a job hit a bug.
    """

    judged = Signal(object)
    suggested = Signal(object)
    failed = Signal(object)

    def __init__(
        self, document: Document, group: JobGroup, compiling: Compiling, decoding: Decoding, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document, self._group, self._decoding = document, group, decoding
        self._drawn: Drawn | None = None
        self._is_watched = False
        self._asked: JudgeRequest | None = None
        self._seed = 0
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._timer.timeout.connect(self._ask)
        self._trace_timer = QTimer(self, singleShot=True, interval=_TRACE_DELAY_MS)
        self._trace_timer.timeout.connect(self._ask)
        compiling.compiled.connect(self._on_compiled)
        decoding.viewed.connect(lambda _view: self._trace_timer.start() if self._matters else None)
        document.replaced.connect(self._forget)
        document.test_strings_changed.connect(self._timer.start)
        group.answered.connect(self._on_answer)
        group.failed.connect(lambda _request, failed: self.failed.emit(failed))

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is on its way."""
        return bool(self._group.pending) or self._timer.isActive()

    def set_texts(self, texts: tuple[ExpectedText, ...]) -> None:
        """Take over an edit of the test strings."""
        self._document.set_expected_texts(texts)
        self._timer.start()

    def watch(self, is_watched: bool) -> None:
        """Whether somebody looks at the pane: then the coverage is told without a test string, too."""
        self._is_watched = is_watched
        if is_watched:
            self._timer.start()

    def suggest(self, kind: SuggestionKind) -> None:
        """Ask for texts of a kind."""
        if self._drawn is not None:
            self._seed += 1
            known = tuple(one.text for one in self._document.content.expected_texts)
            self._group.submit(SuggestRequest(self._drawn.request, kind, known, self._seed))

    def revive(self) -> None:
        """Ask a new process what the dead one was asked."""
        self._asked = None
        self._timer.start()

    @property
    def _matters(self) -> bool:
        return bool(self._document.content.test_strings) or self._is_watched

    def _on_compiled(self, drawn: Drawn) -> None:
        self._drawn = drawn
        self._timer.start()

    def _forget(self) -> None:
        self._drawn = self._asked = None
        self._group.cancel()

    def _ask(self) -> None:
        if self._drawn is None or not self._matters:
            return
        expected = self._document.content.expected_texts
        traces = outputs_of(self._decoding.view.trace)
        counted = tuple(index for index, one in enumerate(expected) if one.accepts)
        request = JudgeRequest(self._drawn.request, tuple(one.text for one in expected), counted, traces)
        if request != self._asked:
            self._asked = request
            self._group.submit(request)

    def _on_answer(self, _request: Any, answer: Any) -> None:
        match answer:
            case JudgeAnswer():
                if self._drawn is not None and answer.revision == self._drawn.request.revision:
                    self.judged.emit(answer)
            case SuggestAnswer():
                self.suggested.emit(answer)


def outputs_of(trace: Trace) -> tuple[bytes, ...]:
    """The outputs of a trace's branches, the latest first, each as far as the grammar allows it."""
    before: dict[int | None, bytes] = {None: b""}
    has_more: set[int | None] = {None}
    for node in trace.nodes:
        if node.parent in before and node.id not in trace.illegal:
            before[node.id] = before[node.parent] + (b"" if node.step.name else node.step.token or b"")
            has_more.add(node.parent)
    outputs = (output for node_id, output in reversed(before.items()) if node_id not in has_more and output)
    return tuple(dict.fromkeys(outputs))[:_MOST_OUTPUTS]
