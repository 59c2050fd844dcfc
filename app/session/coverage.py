"""The coverage that the panes show: by the test strings, or by generated outputs."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.document import Document
from app.session.test_runs import StringTestRuns
from app.workers.requests.judge import CoverAnswer, JudgeAnswer
from engine.diagnosis.test_strings.values import Coverage


class ShownCoverage(QObject):
    """Keeps both coverages of the grammar, and which of them is shown.

    Signals:
        changed(): another coverage is shown.
        counting_changed(generated): whether generated outputs count, instead of the test strings.
        generated_changed(Coverage): the coverage by generated outputs.
    """

    changed = Signal()
    counting_changed = Signal(bool)
    generated_changed = Signal(Coverage)

    def __init__(self, document: Document, test_runs: StringTestRuns, parent: QObject) -> None:
        super().__init__(parent)
        self._test_runs = test_runs
        self._found: dict[bool, tuple[int, Coverage]] = {}  # by the tests and by generated outputs, with the revision
        self._counts_generated = False
        self._watchers: frozenset[str] = frozenset()
        test_runs.judged.connect(self._on_judged)
        test_runs.covered.connect(self._on_covered)
        document.replaced.connect(self._forget)

    @property
    def counts_generated(self) -> bool:
        """Return whether generated outputs, rather than test strings, count."""
        return self._counts_generated

    @property
    def generated(self) -> Coverage:
        """Return the coverage by generated outputs."""
        return self._found[True][1] if True in self._found else Coverage()

    @property
    def shown(self) -> tuple[int, Coverage | None]:
        """Return the coverage that is shown, None if there is none yet, after the revision of its grammar."""
        return self._found.get(self._counts_generated, (-1, None))

    def watch(self, watcher: str, is_watched: bool) -> None:
        """Compute coverage while a pane, `watcher`, shows it, even without test strings."""
        self._watchers = self._watchers | {watcher} if is_watched else self._watchers - {watcher}
        self._test_runs.watch(bool(self._watchers))

    def count_generated(self, generated: bool) -> None:
        """Count generated outputs, instead of the test strings, or the reverse."""
        if generated != self._counts_generated:
            self._counts_generated = generated
            self.changed.emit()
            self.counting_changed.emit(generated)

    def _on_judged(self, answer: JudgeAnswer) -> None:
        if answer.error:
            return
        if self._found.get(True, (answer.revision,))[0] != answer.revision:
            del self._found[True]  # of another grammar
            self.generated_changed.emit(Coverage())
        self._take(answer.revision, answer.coverage, generated=False)

    def _on_covered(self, answer: CoverAnswer) -> None:
        self.generated_changed.emit(answer.coverage)
        self._take(answer.revision, answer.coverage, generated=True)

    def _take(self, revision: int, coverage: Coverage, *, generated: bool) -> None:
        self._found[generated] = revision, coverage
        if generated == self._counts_generated:
            self.changed.emit()

    def _forget(self) -> None:
        self._found.clear()
        self.generated_changed.emit(Coverage())
