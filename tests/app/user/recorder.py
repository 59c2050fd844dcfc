"""Figures of a long walk of the random user: memory, descriptors, processes over time, and stalls of the event loop.

Slopes are of least squares over means of equal stretches of time after a warm-up, so that neighbouring samples, which
are not independent, count once; their intervals are those of Student's t.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

import numpy as np
import psutil
from PySide6.QtCore import QObject, QTimer

EVERY_S, STRETCHES, WARM_UP = 5.0, 20, 0.2
TICK_MS, STALL_MS = 10, 50
T_95 = 2.101  # Student's t for 18 degrees of freedom


@dataclass
class Recorder:
    """Samples of this process and its children.

    Attributes:
        rows: for each sample the seconds since the start, the resident memory of this process and of its children in
            MB, its open descriptors, and the number of its children.
        stalls: for each delay of the event loop of more than 50 ms, its length and the processor time that the GUI
            thread spent in it, both in ms.
    """

    rows: list[tuple[float, float, float, int, int]] = field(default_factory=list)
    stalls: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._owner, self._process = QObject(), psutil.Process()
        self._began = time.monotonic()
        self._next = self._began
        self._last = time.monotonic(), time.thread_time()
        timer = QTimer(self._owner, interval=TICK_MS)
        timer.timeout.connect(self._tick)
        timer.start()

    def stop(self) -> None:
        """Take no more samples."""
        self._owner.deleteLater()

    def _tick(self) -> None:
        now, worked = time.monotonic(), time.thread_time()
        late, processor = (now - self._last[0]) * 1000 - TICK_MS, (worked - self._last[1]) * 1000
        if late > STALL_MS:
            self.stalls.append((late, processor))
        if now >= self._next:
            self._next = now + EVERY_S
            self._sample(now - self._began)
        self._last = time.monotonic(), time.thread_time()

    def _sample(self, at: float) -> None:
        children = self._process.children(recursive=True)
        held = 0.0
        for child in children:
            try:
                held += child.memory_info().rss / 1e6
            except psutil.NoSuchProcess:
                continue
        self.rows.append(
            (at, self._process.memory_info().rss / 1e6, held, self._process.num_fds(), len(children)),
        )

    def summary(self, actions: dict[str, int]) -> dict[str, object]:
        """Return the figures of the walk, with how often each action was done; without slopes of a short one."""
        if len(self.rows) < 2 * STRETCHES:
            return {"samples_taken": len(self.rows), "actions": actions}
        lasting = [row for row in self.rows if row[0] >= WARM_UP * self.rows[-1][0]]
        names = ("window_mb", "children_mb", "descriptors", "children")
        figures = {
            name: slope([row[0] for row in lasting], [row[1 + i] for row in lasting]) for i, name in enumerate(names)
        }
        worked = sorted((processor for _, processor in self.stalls), reverse=True)
        return {
            "minutes": round(self.rows[-1][0] / 60, 1),
            "actions": dict(sorted(actions.items())),
            "per_hour": figures,
            "medians": {name: round(median(row[1 + i] for row in lasting), 1) for i, name in enumerate(names)},
            "stalls_over_50_ms": len(self.stalls),
            "of_these_with_50_ms_of_processor_time": sum(processor > STALL_MS for processor in worked),
            "longest_in_processor_time_ms": [round(one) for one in worked[:10]],
        }

    def write(self, path: Path, actions: dict[str, int]) -> None:
        """Write the figures, and the samples below them, as JSON."""
        path.write_text(json.dumps(self.summary(actions) | {"samples": self.rows}, indent=1), "utf-8")


def slope(seconds: list[float], values: list[float]) -> tuple[float, float, float]:
    """Return the slope for each hour, and the ends of its interval at 95%.

    Args:
        seconds: the times of at least as many samples as there are stretches, ascending.
        values: the samples.
    """
    parts = np.array_split(np.arange(len(seconds)), STRETCHES)
    hours = np.array([fmean(seconds[i] for i in part) / 3600 for part in parts])
    means = np.array([fmean(values[i] for i in part) for part in parts])
    centred = hours - hours.mean()
    steepness = float(centred @ means / (centred @ centred))
    rest = means - means.mean() - steepness * centred
    error = float(np.sqrt(rest @ rest / (STRETCHES - 2) / (centred @ centred)))
    return round(steepness, 3), round(steepness - T_95 * error, 3), round(steepness + T_95 * error, 3)
