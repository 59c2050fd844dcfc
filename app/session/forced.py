"""Requests about forced runs to the decode group.

Their answers take the model's time, so only the newest request of each kind is kept.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from app.jobs import JobGroup
from app.workers.decode_messages import DecodeView
from app.workers.forced_messages import (
    CompareSpellings,
    FindForced,
    FindForcedHere,
    ForcedAnswer,
    ForcedHereAnswer,
    ForcedRequest,
    IndexAnswer,
    ListIndex,
    MeasureStrategies,
    SpellingsAnswer,
    StrategiesAnswer,
)


class ForcedQueries(QObject):
    """Requests lists and comparisons of forced runs.

    Signals:
        forced(ForcedAnswer), forced_here(ForcedHereAnswer), compared(SpellingsAnswer), measured(StrategiesAnswer),
        indexed(IndexAnswer): the answers.
        stopped(kind of request, why): there will be no answer.
    """

    forced = Signal(object)
    forced_here = Signal(object)
    compared = Signal(object)
    measured = Signal(object)
    indexed = Signal(object)
    stopped = Signal(object, str)

    def __init__(self, group: JobGroup, parent: QObject) -> None:
        super().__init__(parent)
        self._group = group
        group.answered.connect(self._on_answer)
        group.told.connect(self._on_answer)
        group.cancelled.connect(lambda request: self._on_request_lost(request, "Cancelled"))
        group.failed.connect(lambda request, _failed: self._on_request_lost(request, "Stopped"))

    def ask(self, request: ForcedRequest) -> None:
        """Submit a request; replaces an older one of its kind."""
        self.cancel(type(request))
        self._group.submit(request)

    def cancel(self, kind: type) -> None:
        """Cancel the requests of a kind."""
        self._group.cancel(lambda request: isinstance(request, kind))

    def cancel_all(self) -> None:
        """Cancel all requests that take the model's time."""
        for kind in (CompareSpellings, MeasureStrategies, FindForced, ListIndex):
            self.cancel(kind)

    def is_asking(self, kind: type) -> bool:
        """Return whether a request of a kind is pending."""
        return any(isinstance(request, kind) for request in self._group.pending)

    def _on_answer(self, request: Any, answer: Any) -> None:
        match answer:
            case ForcedAnswer():
                self.forced.emit(answer)
            case ForcedHereAnswer():
                self.forced_here.emit(answer)
            case SpellingsAnswer():
                self.compared.emit(answer)
            case StrategiesAnswer():
                self.measured.emit(answer)
            case IndexAnswer():
                self.indexed.emit(answer)
            case DecodeView() if isinstance(request, ForcedRequest):
                self.stopped.emit(type(request), answer.error)

    def _on_request_lost(self, request: Any, why: str) -> None:
        is_quiet = not isinstance(request, ForcedRequest) or isinstance(request, FindForcedHere)
        if not is_quiet and not self.is_asking(type(request)):
            self.stopped.emit(type(request), why)
