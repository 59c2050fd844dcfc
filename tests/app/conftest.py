"""What all tests of the application share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partialmethod
from typing import Any

import pytest
from event_loop import turns
from import_guard import ImportGuard
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

import app.window.main_window  # noqa: F401 - declares all commands, whose keys are in the tips of panes
from app.jobs import GarbageCollector

PATIENCE_MS = 120_000


class PatientBot(QtBot):
    """Waits as long as a busy machine may need; what comes sooner is not slowed by it."""

    waitExposed = partialmethod(QtBot.waitExposed, timeout=PATIENCE_MS)  # noqa: N815 - Qt's own style
    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE_MS)  # noqa: N815
    waitSignals = partialmethod(QtBot.waitSignals, timeout=PATIENCE_MS)  # noqa: N815
    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE_MS)  # noqa: N815

    def turns(self) -> None:
        """Let the event loop do what waits in it."""
        turns()

    def mouseClick(self, widget: QWidget, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        """Click a widget once it has its size; a click into a widget that is not laid out yet goes nowhere."""
        self._wait_for_layout(widget)
        QTest.mouseClick(widget, *args, **kwargs)

    def mouseDClick(self, widget: QWidget, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        """Double-click a widget once it has its size."""
        self._wait_for_layout(widget)
        QTest.mouseDClick(widget, *args, **kwargs)

    def mousePress(self, widget: QWidget, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        """Press a button over a widget once it has its size."""
        self._wait_for_layout(widget)
        QTest.mousePress(widget, *args, **kwargs)

    def _wait_for_layout(self, widget: QWidget) -> None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        self.waitUntil(lambda: not widget.rect().isEmpty())

    @staticmethod
    def mouseMove(widget: QWidget, pos: QPoint, delay: int = -1) -> None:  # noqa: N802 - Qt's own style
        """Move the pointer over a widget, which gets an event wherever the pointer was and whatever window is above."""
        moves = Moves(widget)
        QTest.mouseMove(widget, pos, delay)
        if not moves.seen:
            none = Qt.MouseButton.NoButton
            at = QPointF(pos), QPointF(widget.mapToGlobal(pos))
            event = QMouseEvent(QEvent.Type.MouseMove, *at, none, none, Qt.KeyboardModifier.NoModifier)
            QApplication.sendEvent(widget, event)
        widget.removeEventFilter(moves)


class Moves(QObject):
    """Notices whether a widget gets an event of a moved pointer."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.seen = False
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        self.seen = self.seen or event.type() == QEvent.Type.MouseMove
        return False


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


@pytest.fixture(autouse=True)
def garbage(qapp: QApplication) -> Iterator[GarbageCollector]:
    """Garbage is collected as in the application: by the GUI thread alone. What a test closed is gone after it."""
    collector = GarbageCollector(qapp)
    yield collector
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # else every later theme would dress it, too
    collector.stop()
    collector.collect_due()
    collector.deleteLater()


@pytest.fixture(scope="session")
def import_guard() -> Iterator[ImportGuard]:
    guard = ImportGuard()
    guard.install()
    yield guard
    guard.remove()


@pytest.fixture(autouse=True)
def no_qt_in_threads(import_guard: ImportGuard) -> Iterator[None]:
    """Classes of Qt are defined by the GUI thread alone."""
    import_guard.found.clear()
    yield
    assert import_guard.found == []


@pytest.fixture
def workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes are there at once; where the event loop is measured they start as they do for a user."""
    if request.node.get_closest_marker("alone") is None and (context := request.getfixturevalue("ready_worker")):
        monkeypatch.setattr("app.jobs.link.CONTEXT", context)
        monkeypatch.setattr("app.session.session.LAYOUT_LIMIT_MS", PATIENCE_MS)  # whatever else the machine does
