"""Logs stalls of the event loop: a late timer measures how long it was blocked."""

from __future__ import annotations

import logging
import time
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer

_log = logging.getLogger(__name__)

_EVERY_MS: Final = 500
_STALL_MS: Final = 300
_MOST: Final = 200  # lines of one run: more add nothing on a machine that is busy all the time


class StallWatch(QObject):
    """Logs every stall of the event loop, with the processor time that the GUI thread spent in it."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._remaining_lines = _MOST
        self._last = self._now()
        self._timer = QTimer(self, interval=_EVERY_MS, timerType=Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self.check)
        self._timer.start()

    def check(self) -> None:
        """Log a stall if the timer is late."""
        now, processor = self._now()
        stalled, worked = (now - self._last[0]) * 1000 - _EVERY_MS, (processor - self._last[1]) * 1000
        self._last = now, processor
        if stalled > _STALL_MS and self._remaining_lines:
            self._remaining_lines -= 1
            _log.warning("the event loop stalled for %.0f ms; the GUI thread worked for %.0f ms", stalled, worked)

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.monotonic(), time.thread_time()
