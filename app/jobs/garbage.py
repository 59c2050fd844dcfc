"""Cyclic garbage collection on the GUI thread only.

Python collects garbage wherever the count of new objects exceeds a threshold, and the threads that unpickle worker
messages create many objects. There, a cycle with Qt objects would be destroyed in parallel to the GUI thread, which may
be deleting the same objects in Qt: an occasional crash in the bindings, far from its cause. So Python's own collector
is off, and a timer of the event loop collects by Python's counts.

Rejected: `gc.freeze`, which exempts existing objects but no later ones; a lock around unpickling, which the collector
does not respect.
"""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS: Final = 500


class GarbageCollector(QObject):
    """Collects cyclic garbage between events while it exists; Python's own collector is off meanwhile."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect_due)
        self._timer.start()

    def collect_due(self) -> None:
        """Collect the oldest generation whose count exceeds its threshold, and the younger ones with it."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                gc.collect(generation)
                return

    def stop(self) -> None:
        """Enable Python's own collector again."""
        self._timer.stop()
        gc.enable()
