"""Run the event loop for a number of turns, and measure how long it stops.

A timer ticks every few milliseconds; what matters is the longest gap between two
ticks, less what the machine took for others. Where the kernel tells how long a
thread waited for a core (Linux, `schedstat`), that is subtracted. Elsewhere a gap
counts as the processor time that the thread itself spent in it, and in full only
where it is so long that the thread must have waited for something.
"""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer

_TICK_MS = 5
_SURELY_WAITED_MS = 500
_SCHEDSTAT = Path("/proc/thread-self/schedstat")


def turns(count: int = 20) -> None:
    """Let the event loop turn so often: layouts, posted events and timers without a delay are done then.

    Milliseconds would be many turns on a quick machine and a single one on a busy one.
    """
    for _ in range(count):
        loop = QEventLoop()
        QTimer.singleShot(0, loop.quit)
        loop.exec()


def waited_for_a_core() -> float | None:
    """Milliseconds that this thread was ready to run and had no core; None where nobody counts them."""
    try:
        ran, waited, _ = _SCHEDSTAT.read_text().split()
    except (OSError, ValueError):
        return None
    return int(waited) / 1e6 if int(ran) else None


class Watchdog(QObject):
    """Measures the longest standstill since `start`, milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_ms = 0.0
        self._last = self._now()
        self._timer = QTimer(self, interval=_TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        self.longest_ms = 0.0
        self._last = self._now()
        self._timer.start()

    def stop(self) -> None:
        if self._timer.isActive():
            self._tick()
            self._timer.stop()

    def _tick(self) -> None:
        now = self._now()
        gap, worked, waited = (after - before for before, after in zip(self._last, now, strict=True))
        estimate = gap if gap > _SURELY_WAITED_MS else worked
        standstill = estimate if waited_for_a_core() is None else gap - waited
        self.longest_ms = max(self.longest_ms, standstill - _TICK_MS)
        self._last = now

    def _now(self) -> tuple[float, float, float]:
        return time.perf_counter() * 1000, time.thread_time() * 1000, waited_for_a_core() or 0.0
