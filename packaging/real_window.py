"""The real window with real workers, offscreen, for the scripts that draw it."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.window.main_window import MainWindow

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_S, TURN_MS = 180, 10


def wait(condition: Callable[[], bool], settle_ms: int) -> None:
    """Let the window live until the condition holds, and then until what it shows has settled.

    Each wait of Qt is brief, since it keeps Python's other threads from running.

    Args:
        condition: the condition.
        settle_ms: how long the window lives after it, in milliseconds.
    """
    from PySide6.QtTest import QTest

    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the window did not come to the state to be drawn")
        QTest.qWait(TURN_MS)
    for _ in range(settle_ms // TURN_MS):
        QTest.qWait(TURN_MS)


def real_windows(
    width: int, height: int, looks: tuple[str, ...] = ("light", "dark")
) -> Iterator[tuple[str, MainWindow]]:
    """Yield the themes, each with a window that is shown in it and closed after its turn.

    Args:
        width: the width of the window in pixels.
        height: its height.
        looks: the themes.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    sys.path.insert(0, str(ROOT))
    from PySide6.QtWidgets import QApplication

    from app import theme
    from app.document import Autosave, Document
    from app.session import Session, WorkerPool
    from app.settings import Settings
    from app.window.main_window import MainWindow

    app = QApplication(sys.argv[:1])
    for look in looks:
        theme.apply(app, look)
        with tempfile.TemporaryDirectory() as home:
            document = Document(Autosave(Path(home, "autosave")), app)
            window = MainWindow(Session(document, WorkerPool(app), app), Settings(Path(home, "preferences.json")))
            window.resize(width, height)
            window.show()
            yield look, window
            window.close_without_asking()
