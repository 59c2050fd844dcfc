"""The test strings of a session: judged when the grammar or a string changes.

The coverage by generated outputs is counted separately, and computed only while a coverage is shown: by the outputs
since the last restart, with their branches, and by those of many seeds. Neither count changes the other.

The worker process starts with the first test string, or when the pane is shown: most windows never need it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.delays import delayed
from app.document import Document
from app.jobs import JobGroup
from app.session.compiling import CompiledGrammarView, Compiling
from app.session.decoding import Decoding
from app.workers.protocol import Failed
from app.workers.requests.decode import DecodeView, ManyAnswer
from app.workers.requests.judge import (
    CoverAnswer,
    CoverRequest,
    JudgeAnswer,
    JudgeRequest,
    SuggestAnswer,
    SuggestRequest,
)
from engine.decoding.values import Finish, SampleOutcome, Trace
from engine.diagnosis.test_strings.values import SuggestionKind
from engine.document.content import ExpectedText

_DELAY_MS = 40  # edits of several strings at once are one request
_OUTPUT_DELAY_MS = 400  # nobody reads the coverage at every step of a run


class StringTestRuns(QObject):
    """Requests verdicts on the test strings, and coverage.

    Signals:
        judged(JudgeAnswer): the verdicts, and the coverage by the test strings.
        covered(CoverAnswer): the coverage by the generated outputs.
        failed(Failed): a job hit a bug.
    """

    judged = Signal(JudgeAnswer)
    covered = Signal(CoverAnswer)
    failed = Signal(Failed)

    def __init__(
        self, document: Document, group: JobGroup, compiling: Compiling, decoding: Decoding, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document, self._group, self._decoding = document, group, decoding
        self._drawn: CompiledGrammarView | None = None
        self._is_watched = False
        self._requested: JudgeRequest | None = None
        self._requested_outputs: CoverRequest | None = None
        self._ignored: frozenset[int] = frozenset()  # steps before the last restart that were not taken again since
        self._samples: tuple[bytes, ...] = ()
        self._seed = 0
        self._timer = delayed(self, _DELAY_MS, self._ask)
        self._output_timer = delayed(self, _OUTPUT_DELAY_MS, self._ask_outputs)
        compiling.compiled.connect(self._on_compiled)
        decoding.view_changed.connect(self._on_view)
        decoding.restarted.connect(self._on_restarted)
        decoding.queries.sampled.connect(self._on_sampled)
        document.replaced.connect(self._forget)
        document.test_strings_changed.connect(self._timer.start)
        group.failed.connect(lambda _request, failed: self.failed.emit(failed))

    @property
    def is_waiting(self) -> bool:
        """Return whether an answer is pending."""
        return bool(self._group.pending) or self._timer.isActive() or self._output_timer.isActive()

    def set_texts(self, texts: tuple[ExpectedText, ...]) -> None:
        """Store an edit of the test strings."""
        self._document.set_expected_texts(texts)
        self._timer.start()

    def add_text(self, text: str, *, accepts: bool = True) -> None:
        """Add a test string from elsewhere than the list of tests, unless it is in the list."""
        known = self._document.content.test_strings
        if all(one.text != text for one in known):
            self._document.set_expected_texts((*known, ExpectedText(text, accepts)))
            self._document.test_strings_changed.emit()

    def watch(self, is_watched: bool) -> None:
        """Compute coverage while it is shown, even without test strings."""
        self._is_watched = is_watched
        if is_watched:
            self._timer.start()
            self._output_timer.start()

    def suggest(self, kind: SuggestionKind, show: Callable[[SuggestAnswer], object]) -> None:
        """Request suggestions of a kind."""
        if self._drawn is not None:
            self._seed += 1
            known = tuple(one.text for one in self._document.content.test_strings)
            request = SuggestRequest(self._drawn.request, kind, known, self._seed)
            self._group.ask(request, self).then(show)

    def revive(self) -> None:
        """Repeat the pending requests for a new process."""
        self._requested = self._requested_outputs = None
        self._timer.start()
        self._output_timer.start()

    @property
    def _is_needed(self) -> bool:
        return bool(self._document.content.test_strings) or self._is_watched

    def _on_compiled(self, drawn: CompiledGrammarView) -> None:
        self._drawn = drawn
        self._timer.start()
        self._output_timer.start()

    def _forget(self) -> None:
        self._drawn = self._requested = self._requested_outputs = None
        self._ignored, self._samples = frozenset(), ()
        self._group.cancel()

    def _on_view(self, view: DecodeView) -> None:
        taken = _taken(view.trace)
        self._ignored = frozenset(node for node in self._ignored if node < len(view.trace.nodes)).difference(taken)
        if self._is_watched:
            self._output_timer.start()

    def _on_restarted(self) -> None:
        self._ignored = frozenset(node.id for node in self._decoding.view.trace.nodes)

    def _on_sampled(self, answer: ManyAnswer) -> None:
        self._samples = tuple(map(_bytes_of, answer.outcomes))
        if self._is_watched:
            self._output_timer.start()

    def _ask(self) -> None:
        if self._drawn is None or not self._is_needed:
            return
        expected = self._document.content.test_strings
        counted = tuple(index for index, one in enumerate(expected) if one.accepts)
        request = JudgeRequest(self._drawn.request, tuple(one.text for one in expected), counted)
        if request != self._requested:
            self._requested = request
            self._group.ask(request, self).then(self._on_judged)

    def _ask_outputs(self) -> None:
        if self._drawn is None or not self._is_watched:
            return
        generated = outputs_of(self._decoding.view.trace, self._ignored)
        counted = Counter((*generated, *self._samples))
        request = CoverRequest(self._drawn.request, tuple(counted), tuple(counted.values()))
        if request != self._requested_outputs:
            self._requested_outputs = request
            self._cover(request)

    def _cover(self, request: CoverRequest) -> None:
        self._group.ask(request, self).then(partial(self._on_covered, request))

    def _on_covered(self, request: CoverRequest, answer: CoverAnswer) -> None:
        if self._drawn is None or answer.revision != self._drawn.request.revision:
            return
        self.covered.emit(answer)
        if answer.pending and request is self._requested_outputs:
            self._cover(request)

    def _on_judged(self, answer: JudgeAnswer) -> None:
        if self._drawn is not None and answer.revision == self._drawn.request.revision:
            self.judged.emit(answer)


def outputs_of(trace: Trace, aside: frozenset[int] = frozenset()) -> tuple[bytes, ...]:
    """Return the outputs of a trace's branches, the latest first, each as far as the grammar allows it.

    Args:
        trace: the tree of steps.
        aside: steps to ignore.
    """
    before: dict[int | None, bytes] = {None: b""}
    has_more: set[int | None] = {None}
    for node in trace.nodes:
        if node.parent in before and node.id not in trace.illegal and node.id not in aside:
            before[node.id] = before[node.parent] + (b"" if node.step.name else node.step.token or b"")
            has_more.add(node.parent)
    outputs = (output for node_id, output in reversed(before.items()) if node_id not in has_more and output)
    return tuple(dict.fromkeys(outputs))


def _taken(trace: Trace) -> tuple[int, ...]:
    """Return the nodes from the first step to the current one."""
    return () if trace.current is None else trace.path[: trace.path.index(trace.current) + 1]


def _bytes_of(outcome: SampleOutcome) -> bytes:
    """Return the bytes of an output, without a character that the end of the generation cut in two."""
    text = outcome.text if outcome.finish is Finish.STOP else outcome.text.rstrip("\ufffd")
    return text.encode()
