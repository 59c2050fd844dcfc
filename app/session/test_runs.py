"""The test strings of a session: judged when the grammar or a string changes.

The coverage by generated outputs is counted separately, and computed only while a coverage is shown: by the outputs
since the last restart, with their branches, and by those of many seeds. Neither count changes the other.

The worker process starts with the first test string, or when the pane is shown: most windows never need it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.delays import delayed
from app.document import Document
from app.jobs import JobGroup, Loss, PendingAnswer
from app.session.compiling import CompiledGrammarView, Compiling
from app.session.decoding import Decoding
from app.workers.protocol import Failed
from app.workers.requests.decode import DecodeView, ManyAnswer, WhyAnswer
from app.workers.requests.judge import (
    CoverAnswer,
    CoverRequest,
    FindAmbiguousText,
    FindRefusal,
    FollowLog,
    JudgeAnswer,
    JudgeRequest,
    JudgeSample,
    LogAnswer,
    ParsedText,
    ParseText,
    PriceAnswer,
    PriceOutput,
    SampleAnswer,
    SampleMode,
    SuggestAnswer,
    SuggestRequest,
)
from engine.decoding.values import NO_MASSES, Finish, PackedMasses, SampleOutcome, StepMass, Trace
from engine.diagnosis.parse_trees.values import AmbiguityAnswer
from engine.diagnosis.test_strings.values import CountedText, SuggestionKind
from engine.document.content import ExpectedText
from engine.matching.explanation import Reason, RefusalKind, TokenRefusal
from engine.notations import NOTATIONS

_DELAY_MS = 40  # edits of several strings at once are one request
_OUTPUT_DELAY_MS = 400  # nobody reads the coverage at every step of a run
MOST_STEPS = 100_000
"""The steps of many seeds of which it is kept what they lost."""


class StringTestRuns(QObject):
    """Requests verdicts on the test strings, and coverage.

    Signals:
        judged(JudgeAnswer): the verdicts, and the coverage by the test strings.
        covered(CoverAnswer): the coverage by the generated outputs.
        log_followed(LogAnswer): the coverage by the outputs of a log, or how far it is.
        failed(Failed): a job hit a bug.
    """

    judged = Signal(JudgeAnswer)
    covered = Signal(CoverAnswer)
    log_followed = Signal(LogAnswer)
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
        self._log_paths: tuple[str, ...] = ()
        self._samples: list[CountedText] = []
        self._sampled_steps = 0
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

    def follow_log(self, paths: tuple[str, ...]) -> None:
        """Compute the coverage by the outputs of a log, again whenever the grammar changes; none for no paths."""
        self._log_paths = paths
        self._ask_log()

    def suggest(self, kind: SuggestionKind, show: Callable[[SuggestAnswer], object]) -> None:
        """Request suggestions of a kind."""
        if self._drawn is not None:
            self._seed += 1
            known = tuple(one.text for one in self._document.content.test_strings)
            request = SuggestRequest(self._drawn.request, kind, known, self._seed)
            self._group.ask(request, self).then(show)

    def find_refusal(self, answer: WhyAnswer, show: Callable[[TokenRefusal], object]) -> bool:
        """Request the keywords of a schema that refuse a token; a newer request replaces one that waits.

        Args:
            answer: why the token is not allowed.
            show: receives the keywords.

        Returns:
            Whether there is an answer to wait for; there is none if the grammar is no schema.
        """
        self._group.cancel(lambda request: isinstance(request, FindRefusal))
        explanation, drawn = answer.explanation, self._drawn
        is_asked = explanation.reason is Reason.DEAD_BYTE and answer.removed_by is None
        if drawn is None or not NOTATIONS[drawn.request.notation].describes_json or not is_asked:
            return False
        if answer.read is None or not explanation.token:
            return False
        request = FindRefusal(drawn.request, answer.read, explanation.token)
        asked = self._group.ask(request, self).then(show)
        asked.lost(lambda lost: show(TokenRefusal(RefusalKind.UNKNOWN)) if lost.cause is not Loss.CANCELLED else None)
        return True

    def price(self, output: CountedText, show: Callable[[PriceAnswer], object]) -> None:
        """Request what asks the price of the grammar for an output; a newer request replaces one that waits.

        Args:
            output: the output, with the allowed masses of its steps.
            show: receives the price.
        """
        self.stop_pricing()
        if self._drawn is not None:
            self._group.ask(PriceOutput(self._drawn.request, output), self).then(show)

    def stop_pricing(self) -> None:
        """Cancel the request of a price."""
        self._group.cancel(lambda request: isinstance(request, PriceOutput))

    def parse(
        self, text: bytes, known: int, show: Callable[[ParseText, ParsedText], object], stop: Callable[[], object]
    ) -> None:
        """Request the parse tree of a text.

        Args:
            text: the text.
            known: the number of the last answer; its nodes are not sent again.
            show: receives the request and the tree.
            stop: called if there will be none.
        """
        if self._drawn is not None:
            request = ParseText(self._drawn.request, text, known)
            self._group.ask(request, self).then(partial(show, request)).lost(lambda _lost: stop())

    def judge_sample(self, text: str, mode: SampleMode, show: Callable[[SampleAnswer], object]) -> None:
        """Request the verdicts on a sample text; a newer request replaces one that waits.

        Args:
            text: the sample.
            mode: what is judged of it.
            show: receives the verdicts.
        """
        self.stop_judging_sample()
        if self._drawn is not None:
            self._group.ask(JudgeSample(self._drawn.request, text, mode), self).then(show)

    def stop_judging_sample(self) -> None:
        """Cancel the request of verdicts on a sample text."""
        self._group.cancel(lambda request: isinstance(request, JudgeSample))

    def find_ambiguous_text(self, show: Callable[[AmbiguityAnswer], object]) -> PendingAnswer[AmbiguityAnswer] | None:
        """Search for a text with two readings; a second search replaces the first. Return None without a grammar."""
        if self._drawn is None:
            return None
        return self._group.ask(FindAmbiguousText(self._drawn.request), self).then(show)

    def stop_finding(self) -> None:
        """Cancel the search for a text with two readings."""
        self._group.cancel(lambda request: isinstance(request, FindAmbiguousText))

    def revive(self) -> None:
        """Repeat the pending requests for a new process."""
        self._requested = self._requested_outputs = None
        self._timer.start()
        self._output_timer.start()
        self._ask_log()

    @property
    def _is_needed(self) -> bool:
        return bool(self._document.content.test_strings) or self._is_watched

    def _on_compiled(self, drawn: CompiledGrammarView) -> None:
        self._drawn = drawn
        self._timer.start()
        self._output_timer.start()
        self._ask_log()

    def _forget(self) -> None:
        self._drawn = self._requested = self._requested_outputs = None
        self._ignored = frozenset()
        self._samples.clear()
        self._log_paths = ()
        self._group.cancel()

    def _on_view(self, view: DecodeView) -> None:
        taken = _taken(view.trace)
        self._ignored = frozenset(node for node in self._ignored if node < len(view.trace.nodes)).difference(taken)
        if self._is_watched:
            self._output_timer.start()

    def _on_restarted(self) -> None:
        self._ignored = frozenset(node.id for node in self._decoding.view.trace.nodes)

    def _on_sampled(self, answer: ManyAnswer) -> None:
        if not answer.done and len(answer.outcomes) <= len(self._samples):  # of a new run
            self._samples.clear()
            self._sampled_steps = 0
        for outcome in answer.outcomes[len(self._samples) :]:
            self._sampled_steps += len(answer.masses.tokens)
            masses = answer.masses if self._sampled_steps <= MOST_STEPS else NO_MASSES
            self._samples.append(CountedText(_bytes_of(outcome), 1, masses))
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
        view = self._decoding.view
        generated = outputs_of(view.trace, self._ignored, has_model=view.has_model)
        opened = frozenset(self._samples)  # the trace of an output of many seeds is that output
        counted = Counter((*(one for one in generated if one not in opened), *self._samples))
        outputs = tuple(replace(one, count=count) for one, count in counted.items())
        request = CoverRequest(self._drawn.request, outputs)
        if request != self._requested_outputs:
            self._requested_outputs = request
            self._cover(request)

    def _ask_log(self) -> None:
        self._group.cancel(lambda request: isinstance(request, FollowLog))
        if self._drawn is not None and self._log_paths:
            self._follow(FollowLog(self._drawn.request, self._log_paths))

    def _follow(self, request: FollowLog) -> None:
        self._group.ask(request, self).then(self._on_log)

    def _on_log(self, answer: LogAnswer) -> None:
        request = answer.request
        if self._drawn is None or (request.compiled, request.paths) != (self._drawn.request, self._log_paths):
            return
        if not answer.is_complete:
            self._follow(replace(request, begins=False))
        self.log_followed.emit(answer)

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


def outputs_of(trace: Trace, aside: frozenset[int] = frozenset(), *, has_model: bool = True) -> tuple[CountedText, ...]:
    """Return the outputs of a trace's branches, the latest first, each as far as the grammar allows it.

    Args:
        trace: the tree of steps.
        aside: steps to ignore.
        has_model: whether the steps have probabilities of a model.
    """
    before: dict[int | None, tuple[bytes, StepMass | None, int | None]] = {None: (b"", None, None)}
    has_more: set[int | None] = {None}
    for node in trace.nodes:
        if node.parent in before and node.id not in trace.illegal and node.id not in aside:
            start = before[node.parent][0]
            output = start + (b"" if node.step.name else node.step.token or b"")
            before[node.id] = output, StepMass.of(node.step, len(start)), node.parent
            has_more.add(node.parent)

    def masses_of(node_id: int | None) -> PackedMasses:
        steps = []
        while has_model and (found := before[node_id])[1] is not None:
            steps.append(found[1])
            node_id = found[2]
        return PackedMasses.of(reversed(steps))

    outputs = (
        CountedText(found[0], 1, masses_of(node_id))
        for node_id, found in reversed(before.items())
        if node_id not in has_more and found[0]
    )
    return tuple(dict.fromkeys(outputs))


def _taken(trace: Trace) -> tuple[int, ...]:
    """Return the nodes from the first step to the current one."""
    return () if trace.current is None else trace.path[: trace.path.index(trace.current) + 1]


def _bytes_of(outcome: SampleOutcome) -> bytes:
    """Return the bytes of an output, without a character that the end of the generation cut in two."""
    text = outcome.text if outcome.finish is Finish.STOP else outcome.text.rstrip("\ufffd")
    return text.encode()
