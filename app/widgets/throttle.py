"""Runs a callback at most once per interval, and once more after the last change.

A run shows a step every few milliseconds, and drawing a plot takes as long as the step itself. So a plot is drawn soon
after the first change, and then at most ten times per second while changes continue; the last state is always drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

_DELAY_MS = 15
_INTERVAL_MS = 100


class Throttle(QObject):
    """Calls a function soon after a request, and at most once per interval."""

    def __init__(self, act: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._callback = act
        self._last = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._run)

    def request(self) -> None:
        """Request a call; does nothing if one is pending already."""
        if not self._timer.isActive():
            since = (time.monotonic() - self._last) * 1000
            self._timer.start(max(_DELAY_MS, round(_INTERVAL_MS - since)))

    def _run(self) -> None:
        self._callback()
        self._last = time.monotonic()
