"""Questions to other engines and servers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, SignalInstance

from app.catalogue import ui_text
from app.jobs import JobGroup, Loss, PendingAnswer
from app.workers.protocol import Failed, Progress, WorkerRequest
from app.workers.requests.compile import CompileRequest
from app.workers.requests.engines import (
    CompareEngines,
    CompareMasks,
    EngineList,
    EnginesAnswer,
    FindSmallest,
    FuzzAnswer,
    FuzzSchema,
    ListEngines,
    MasksAnswer,
    SmallestAnswer,
)
from app.workers.requests.servers import CheckedServer, CheckServer, IdentifyServer, KeepServerKey, ServerAnswer

A = TypeVar("A")


class Engines(QObject):
    """Sends questions to the process that runs other engines; it starts with the first one.

    Signals:
        compared(EnginesAnswer), comparison_progressed(Progress): what engines accept of an output.
        listed(EngineList): the installed engines.
        reduced(SmallestAnswer), reduction_progressed(Progress): the smallest grammar on which an engine still fails.
        fuzzed(FuzzAnswer), fuzz_progressed(Progress): the comparison of a schema with `jsonschema`.
        masks_compared(MasksAnswer), masks_progressed(Progress): where the masks of engines differ.
        server_checked(CheckedServer), server_check_progressed(Progress): what is known of a server so far, and its end.
        identified(ServerAnswer): what a server says of itself.
        failed(Failed): a job hit a bug.
    """

    compared = Signal(EnginesAnswer)
    comparison_progressed = Signal(Progress)
    listed = Signal(EngineList)
    reduced = Signal(SmallestAnswer)
    reduction_progressed = Signal(Progress)
    fuzzed = Signal(FuzzAnswer)
    fuzz_progressed = Signal(Progress)
    masks_compared = Signal(MasksAnswer)
    masks_progressed = Signal(Progress)
    server_checked = Signal(CheckedServer)
    server_check_progressed = Signal(Progress)
    identified = Signal(ServerAnswer)
    failed = Signal(Failed)

    def __init__(self, group: JobGroup, parent: QObject) -> None:
        super().__init__(parent)
        self._group = group
        group.failed.connect(lambda _request, failed: self.failed.emit(failed))
        self._last_check: tuple[CompileRequest | None, str] = None, ""
        self.server_checked.connect(self._keep_check)

    def compare(self, request: CompareEngines) -> None:
        """Request what engines accept of an output; replaces an older request."""
        lost = EnginesAnswer(request, error=ui_text("session.lost.engines"))
        self._ask(request, self.compared, self.comparison_progressed, lost)

    def cancel_comparison(self) -> None:
        """Cancel the comparison."""
        self._cancel(CompareEngines)

    def list_engines(self, notation: str) -> None:
        """Request the installed engines that read a notation."""
        self._group.ask(ListEngines(notation), self).then(self.listed.emit)

    def find_smallest(self, request: FindSmallest) -> None:
        """Request the smallest grammar on which an engine or a server still fails; replaces an older request."""
        lost = SmallestAnswer(request, error=ui_text("session.lost.reduce"))
        self._ask(request, self.reduced, self.reduction_progressed, lost)

    def cancel_reduction(self) -> None:
        """Cancel the reduction."""
        self._cancel(FindSmallest)

    def fuzz(self, request: FuzzSchema) -> None:
        """Request the comparison of a schema with `jsonschema`; replaces an older request."""
        lost = FuzzAnswer(request, error=ui_text("session.lost.engines"))
        self._ask(request, self.fuzzed, self.fuzz_progressed, lost)

    def cancel_fuzz(self) -> None:
        """Cancel the comparison with `jsonschema`."""
        self._cancel(FuzzSchema)

    def compare_masks(self, request: CompareMasks) -> None:
        """Request where the masks of engines differ; replaces an older request."""
        lost = MasksAnswer(request, error=ui_text("session.lost.engines"))
        self._ask(request, self.masks_compared, self.masks_progressed, lost)

    def cancel_masks(self) -> None:
        """Cancel the comparison of masks."""
        self._cancel(CompareMasks)

    def check_server(self, request: CheckServer) -> None:
        """Request a check of a server; replaces an older request."""
        lost = CheckedServer(request, error=ui_text("session.lost.engines"))
        asked = self._ask(request, self.server_checked, self.server_check_progressed, lost)
        asked.reported(self.server_checked.emit)

    def cancel_server_check(self) -> None:
        """Cancel the check of a server."""
        self._cancel(CheckServer)

    def server_report_about(self, compiled: CompileRequest) -> str:
        """Return what the last complete check of a server found about this grammar, as JSON; empty if there is none."""
        checked, report = self._last_check
        is_same = checked is not None and (checked.notation, checked.text) == (compiled.notation, compiled.text)
        return report if is_same else ""

    def _keep_check(self, answer: CheckedServer) -> None:
        if answer.report is not None and answer.report.is_complete:
            self._last_check = answer.request.compiled, json.dumps(answer.report.as_data())

    def identify_server(self, request: IdentifyServer) -> None:
        """Request what a server says of itself; replaces an older request."""
        self.cancel_identification()
        lost = ServerAnswer(request, error=ui_text("session.lost.engines"))
        asked = self._group.ask(request, self).then(self.identified.emit)
        asked.lost(lambda loss: None if loss.cause is Loss.CANCELLED else self.identified.emit(lost))

    def cancel_identification(self) -> None:
        """Cancel asking a server what it is."""
        self._cancel(IdentifyServer)

    def keep_key(self, request: KeepServerKey, report: Callable[[str], object]) -> None:
        """Request that a key is kept in the keyring; report why if it is not, else an empty text."""
        asked = self._group.ask(request, self).then(lambda kept: report(kept.error))
        asked.lost(lambda _lost: report(ui_text("session.lost.engines")))

    def _cancel(self, kind: type) -> None:
        self._group.cancel(lambda request: isinstance(request, kind))

    def _ask(
        self, request: WorkerRequest[A], answered: SignalInstance, progressed: SignalInstance, if_lost: A
    ) -> PendingAnswer[A]:
        """Send a request; if it is lost and no newer one of its type is pending, `if_lost` is its answer."""

        def report_lost() -> None:
            if not any(isinstance(one, type(request)) for one in self._group.pending):
                answered.emit(if_lost)

        asked = self._group.ask(request, self).then(answered.emit)
        return asked.progressed(progressed.emit).lost(lambda _lost: report_lost())
