"""Questions to other engines and servers."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.catalogue import ui_text
from app.jobs import JobGroup
from app.workers.protocol import Failed, Progress
from app.workers.requests.engines import (
    CompareEngines,
    EngineList,
    EnginesAnswer,
    FindSmallest,
    FuzzAnswer,
    FuzzSchema,
    ListEngines,
    SmallestAnswer,
)


class Engines(QObject):
    """Sends questions to the process that runs other engines; it starts with the first one.

    Signals:
        compared(EnginesAnswer), comparison_progressed(Progress): what engines accept of an output.
        listed(EngineList): the installed engines.
        reduced(SmallestAnswer), reduction_progressed(Progress): the smallest grammar on which an engine still fails.
        fuzzed(FuzzAnswer), fuzz_progressed(Progress): the comparison of a schema with `jsonschema`.
        failed(Failed): a job hit a bug.
    """

    compared = Signal(EnginesAnswer)
    comparison_progressed = Signal(Progress)
    listed = Signal(EngineList)
    reduced = Signal(SmallestAnswer)
    reduction_progressed = Signal(Progress)
    fuzzed = Signal(FuzzAnswer)
    fuzz_progressed = Signal(Progress)
    failed = Signal(Failed)

    def __init__(self, group: JobGroup, parent: QObject) -> None:
        super().__init__(parent)
        self._group = group
        group.failed.connect(lambda _request, failed: self.failed.emit(failed))

    def compare(self, request: CompareEngines) -> None:
        """Request what engines accept of an output; replaces an older request."""
        asked = self._group.ask(request, self).then(self.compared.emit)
        asked.progressed(self.comparison_progressed.emit).lost(lambda _lost: self._report_lost_comparison(request))

    def cancel_comparison(self) -> None:
        """Cancel the comparison."""
        self._group.cancel(lambda request: isinstance(request, CompareEngines))

    def list_engines(self, notation: str) -> None:
        """Request the installed engines that read a notation."""
        self._group.ask(ListEngines(notation), self).then(self.listed.emit)

    def find_smallest(self, request: FindSmallest) -> None:
        """Request the smallest grammar on which an engine or a server still fails; replaces an older request."""
        asked = self._group.ask(request, self).then(self.reduced.emit)
        asked.progressed(self.reduction_progressed.emit).lost(lambda _lost: self._report_lost_reduction(request))

    def fuzz(self, request: FuzzSchema) -> None:
        """Request the comparison of a schema with `jsonschema`; replaces an older request."""
        asked = self._group.ask(request, self).then(self.fuzzed.emit)
        asked.progressed(self.fuzz_progressed.emit).lost(lambda _lost: self._report_lost_fuzz(request))

    def cancel_fuzz(self) -> None:
        """Cancel the comparison with `jsonschema`."""
        self._group.cancel(lambda request: isinstance(request, FuzzSchema))

    def _report_lost_fuzz(self, request: FuzzSchema) -> None:
        if not any(isinstance(one, FuzzSchema) for one in self._group.pending):
            self.fuzzed.emit(FuzzAnswer(request, error=ui_text("session.lost.engines")))

    def cancel_reduction(self) -> None:
        """Cancel the reduction."""
        self._group.cancel(lambda request: isinstance(request, FindSmallest))

    def _report_lost_reduction(self, request: FindSmallest) -> None:
        if not any(isinstance(one, FindSmallest) for one in self._group.pending):
            self.reduced.emit(SmallestAnswer(request, error=ui_text("session.lost.reduce")))

    def _report_lost_comparison(self, request: CompareEngines) -> None:
        if not any(isinstance(one, CompareEngines) for one in self._group.pending):
            self.compared.emit(EnginesAnswer(request, error=ui_text("session.lost.engines")))
