"""Work that follows what happens, but not more often than an eye needs.

A run shows a step every few milliseconds, and drawing a plot takes as long as the step
itself. So a drawing is made soon after the first change, and then only every tenth of
a second for as long as changes go on; the last one is always drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

_SOON_MS = 15
_APART_MS = 100


class Throttle(QObject):
    """Calls something soon after it was asked for, and not again for a while."""

    def __init__(self, act: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._act = act
        self._last = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._run)

    def ask(self) -> None:
        """Ask for it; what was asked for already comes when it comes."""
        if not self._timer.isActive():
            since = (time.monotonic() - self._last) * 1000
            self._timer.start(max(_SOON_MS, round(_APART_MS - since)))

    def _run(self) -> None:
        self._act()
        self._last = time.monotonic()
