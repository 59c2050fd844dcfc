"""A whole window with its workers for benchmarks, and what to wait for and to measure in it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from event_loop import Watchdog, waited_for_a_core  # noqa: E402
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, QTimer  # noqa: E402 - after the path to what follows
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QApplication, QWidget  # noqa: E402

from app import theme  # noqa: E402
from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart  # noqa: E402
from app.session import Session, WorkerPool  # noqa: E402
from app.settings import Settings  # noqa: E402
from app.window.main_window import MainWindow  # noqa: E402
from app.workers.loop import Handler  # noqa: E402

_PATIENCE_SECONDS = 600
_TICK_MS = 20
_WAITING = QEventLoop.ProcessEventsFlag.AllEvents | QEventLoop.ProcessEventsFlag.WaitForMoreEvents
BUDGET = 2_000


class Took(NamedTuple):
    """What something took, in milliseconds.

    Attributes:
        wait: until it was seen, less what the window itself waited for a core.
        window: what the window's own thread reckoned meanwhile.
    """

    wait: float
    window: float


class Stopwatch:
    """Measures from its making."""

    def __init__(self) -> None:
        self._begun = self._now()

    def took(self) -> Took:
        """What it took so far."""
        wall, window, waited = (now - then for then, now in zip(self._begun, self._now(), strict=True))
        return Took(wall - waited, window)

    def _now(self) -> tuple[float, float, float]:
        return time.perf_counter() * 1000, time.thread_time() * 1000, waited_for_a_core() or 0.0


class Desk:
    """A window, and what to wait for in it."""

    def __init__(self, folder: Path, app: QApplication, handler: Callable[[], Handler]) -> None:
        self.app = app
        theme.prepare(app, "light")
        self.document = Document(Autosave(folder / "autosave"))
        self.session = Session(self.document, WorkerPool(decode_handler=handler))
        self.window = MainWindow(self.session, Settings(folder / "preferences.json"))
        self.window.resize(1600, 1000)
        self.window.show()
        self.session.start()

    def open(self, text: str, model: str, notation: str = "regex") -> None:
        """Show another document, and wait until it can be stepped and is drawn."""
        grammar = GrammarPart(text=text, notation=notation)
        self.document.replace(DocumentFile(grammar=grammar, model=ModelPart(model), max_tokens=BUDGET))
        self.until(lambda: self.session.decoding.view.grammar_revision == self.document.revision)
        self.until(lambda: not self.session.step_refusal)
        QTest.qWait(600)

    def until(self, condition: Callable[[], bool]) -> None:
        """Let the window work until something is so."""
        end = time.monotonic() + _PATIENCE_SECONDS
        ticks = QTimer(interval=_TICK_MS)  # for what changes without an event
        ticks.start()
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("what was waited for did not come")
            self.app.processEvents(_WAITING)

    def settle(self, milliseconds: int = 100) -> None:
        """Let what goes on come to its end."""
        QTest.qWait(milliseconds)

    def close(self) -> None:
        """End window and workers."""
        self.window.close_without_asking()
        self.session.close()
        for part in (self.window, self.session, self.document):
            part.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


class Paints(QObject):
    """Counts the paints of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Let it pass, and count it."""
        self.count += event.type() == QEvent.Type.Paint
        return False


def standstill(work: Callable[[], None]) -> float:
    """The longest time that the event loop stood still during some work, milliseconds."""
    watchdog = Watchdog()
    watchdog.start()
    work()
    watchdog.stop()
    return watchdog.longest_ms
