"""Notices when Qt's event loop stands still.

A timer ticks every few milliseconds and takes the longest gap between two ticks.
Time in which the thread could have run but the machine ran something else is no
fault of the window, so it is subtracted where the kernel counts it (Linux,
`schedstat`); time spent waiting for the interpreter lock stays in.
"""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer


_TICK_MS = 5
_SCHEDSTAT = Path("/proc/thread-self/schedstat")


def waited_for_a_core() -> float:
    """Milliseconds that this thread was ready to run and had no core."""
    try:
        return int(_SCHEDSTAT.read_text().split()[1]) / 1e6
    except (OSError, IndexError):
        return 0.0


class Watchdog(QObject):
    """Measures the longest standstill since `start`."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_ms = 0.0
        self._last = self._last_wait = 0.0
        self._timer = QTimer(self, interval=_TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        self.longest_ms = 0.0
        self._last, self._last_wait = time.perf_counter() * 1000, waited_for_a_core()
        self._timer.start()

    def stop(self) -> None:
        self._tick()
        self._timer.stop()

    def _tick(self) -> None:
        now, wait = time.perf_counter() * 1000, waited_for_a_core()
        standstill = now - self._last - _TICK_MS - (wait - self._last_wait)
        self.longest_ms = max(self.longest_ms, standstill)
        self._last, self._last_wait = now, wait
