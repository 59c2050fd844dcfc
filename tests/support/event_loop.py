"""The event loop, a number of turns at a time."""

from __future__ import annotations

from PySide6.QtCore import QEventLoop, QTimer


def turns(count: int = 20) -> None:
    """Let the event loop turn so often: layouts, posted events and timers without a delay are done then.

    Milliseconds would be many turns on a quick machine and a single one on a busy one.
    """
    for _ in range(count):
        loop = QEventLoop()
        QTimer.singleShot(0, loop.quit)
        loop.exec()
