"""The coverage that the panes show, by test strings, generated outputs or a log, and the price of the shown output."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.delays import delayed
from app.document import Document
from app.session.compiling import Compiling
from app.session.decoding import Decoding
from app.session.test_runs import StringTestRuns, outputs_of
from app.workers.requests.decode import DecodeView
from app.workers.requests.judge import CoverAnswer, JudgeAnswer, LogAnswer, LogState, PriceAnswer
from engine.diagnosis.scores.price_values import GrammarPrice
from engine.diagnosis.test_strings.values import Coverage, CoverageMeasure, CoverageSource

_PRICE_DELAY_MS = 300


class ShownCoverage(QObject):
    """Keeps the coverages of the grammar by their sources, and which of them is shown by which measure.

    Signals:
        changed(): another coverage is shown.
        choice_changed(): another source is shown, or another measure.
        found_changed(CoverageSource, Coverage): the coverage by generated outputs, or by those of a log.
        log_progressed(LogState): how much of the log has been followed.
        log_wanted(): the outputs of a log shall count, and none is open.
    """

    changed = Signal()
    choice_changed = Signal()
    found_changed = Signal(CoverageSource, Coverage)
    log_progressed = Signal(LogState)
    log_wanted = Signal()

    def __init__(self, document: Document, test_runs: StringTestRuns, parent: QObject) -> None:
        super().__init__(parent)
        self._test_runs = test_runs
        self._found: dict[CoverageSource, tuple[int, Coverage]] = {}  # with the revision
        self._source, self._measure = CoverageSource.TESTS, CoverageMeasure.VISITS
        self._watchers: frozenset[str] = frozenset()
        self._log_paths: tuple[str, ...] = ()
        self._log = LogState()
        test_runs.judged.connect(self._on_judged)
        test_runs.covered.connect(self._on_covered)
        test_runs.log_followed.connect(self._on_log)
        document.replaced.connect(self._forget)

    @property
    def source(self) -> CoverageSource:
        """Return the texts that count."""
        return self._source

    @property
    def measure(self) -> CoverageMeasure:
        """Return what is measured."""
        return self._measure

    @property
    def log_paths(self) -> tuple[str, ...]:
        """Return the files of the log; empty without one."""
        return self._log_paths

    @property
    def log(self) -> LogState:
        """Return how much of the log has been followed."""
        return self._log

    @property
    def shown(self) -> tuple[int, Coverage | None]:
        """Return the coverage that is shown, None if there is none yet, after the revision of its grammar."""
        return self.of(self._source)

    def of(self, source: CoverageSource) -> tuple[int, Coverage | None]:
        """Return a coverage, None if there is none yet, after the revision of its grammar."""
        return self._found.get(source, (-1, None))

    def watch(self, watcher: str, is_watched: bool) -> None:
        """Compute coverage while a pane, `watcher`, shows it, even without test strings."""
        self._watchers = self._watchers | {watcher} if is_watched else self._watchers - {watcher}
        self._test_runs.watch(bool(self._watchers))
        self.changed.emit()

    def is_watched_by(self, watcher: str) -> bool:
        """Return whether a pane shows the coverage."""
        return watcher in self._watchers

    def choose(self, source: CoverageSource) -> None:
        """Count the texts of another source; a log is asked for if none is open."""
        if source is CoverageSource.LOG and not self._log_paths:
            self.choice_changed.emit()  # the control has changed already
            self.log_wanted.emit()
        elif source is not self._source:
            self._source = source
            self.changed.emit()
            self.choice_changed.emit()

    def open_log(self, paths: tuple[str, ...]) -> None:
        """Count the outputs of a log."""
        self._log_paths, self._log = paths, LogState()
        self._found.pop(CoverageSource.LOG, None)
        self.found_changed.emit(CoverageSource.LOG, Coverage())
        self._test_runs.follow_log(paths)
        if self._source is CoverageSource.LOG:
            self.changed.emit()
        self.choose(CoverageSource.LOG)

    def close_log(self) -> None:
        """Stop following the log, and count the test strings."""
        self._log_paths, self._log = (), LogState()
        self._found.pop(CoverageSource.LOG, None)
        self._test_runs.follow_log(())
        self.choose(CoverageSource.TESTS)

    def choose_measure(self, measure: CoverageMeasure) -> None:
        """Measure visits, or what was lost."""
        if measure is not self._measure:
            self._measure = measure
            self.changed.emit()
            self.choice_changed.emit()

    def _on_judged(self, answer: JudgeAnswer) -> None:
        if answer.error:
            return
        if self._found.get(CoverageSource.GENERATED, (answer.revision,))[0] != answer.revision:
            del self._found[CoverageSource.GENERATED]  # of another grammar
            self.found_changed.emit(CoverageSource.GENERATED, Coverage())
        self._take(CoverageSource.TESTS, answer.revision, answer.coverage)

    def _on_covered(self, answer: CoverAnswer) -> None:
        self.found_changed.emit(CoverageSource.GENERATED, answer.coverage)
        self._take(CoverageSource.GENERATED, answer.revision, answer.coverage)

    def _on_log(self, answer: LogAnswer) -> None:
        self._log = answer.state
        self.log_progressed.emit(answer.state)
        if answer.is_complete:
            self.found_changed.emit(CoverageSource.LOG, answer.coverage)
            self._take(CoverageSource.LOG, answer.request.compiled.revision, answer.coverage)

    def _take(self, source: CoverageSource, revision: int, coverage: Coverage) -> None:
        self._found[source] = revision, coverage
        if source is self._source:
            self.changed.emit()

    def _forget(self) -> None:
        self._found.clear()
        self._log_paths, self._log = (), LogState()
        if self._source is CoverageSource.LOG:
            self.choose(CoverageSource.TESTS)
        for source in (CoverageSource.GENERATED, CoverageSource.LOG):
            self.found_changed.emit(source, Coverage())


class OutputPrice(QObject):
    """The price of the grammar for the shown output, found once the output or a run has ended.

    Attributes:
        found: the price; None if it is not known.
        path: the steps that it is of.

    Signals:
        changed(): another price is known, or none.
    """

    changed = Signal()

    def __init__(self, compiling: Compiling, decoding: Decoding, test_runs: StringTestRuns, parent: QObject) -> None:
        super().__init__(parent)
        self.found: GrammarPrice | None = None
        self.path: tuple[int, ...] = ()
        self._compiling, self._decoding, self._test_runs = compiling, decoding, test_runs
        self._of: tuple[object, ...] | None = None
        self._timer = delayed(self, _PRICE_DELAY_MS, self._ask)
        decoding.view_changed.connect(self._on_view)
        decoding.running_changed.connect(lambda is_running: None if is_running else self._timer.start())

    def _on_view(self, view: DecodeView) -> None:
        if self._of is not None and self._of != _priced(view):
            self._of, self.path = None, ()
            self._test_runs.stop_pricing()
            if self.found is not None:
                self.found = None
                self.changed.emit()
        if self._of is None and view.position is not None and view.position.finish is not None:
            self._timer.start()

    def _ask(self) -> None:
        """Request the price of the shown path, unless a run goes on or the grammar does not read all of it."""
        view, drawn = self._decoding.view, self._compiling.last_good
        is_read = drawn is not None and drawn.request.revision == view.grammar_revision and view.pipeline.zones is None
        if self._decoding.is_running or self._of is not None or not (is_read and view.has_model and view.trace.path):
            return
        self._of, self.path = _priced(view), view.trace.path
        shown = set(self.path)
        nodes = tuple(node for node in view.trace.nodes if node.id in shown)
        for output in outputs_of(replace(view.trace, nodes=nodes)):
            self._test_runs.price(output, self._show)

    def _show(self, answer: PriceAnswer) -> None:
        self.found = answer.price
        self.changed.emit()


def _priced(view: DecodeView) -> tuple[object, ...]:
    """Return what the price of a view depends on."""
    return view.grammar_revision, view.trace.path, len(view.trace.nodes), view.model, view.prompt
