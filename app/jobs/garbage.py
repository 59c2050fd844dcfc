"""Cyclic garbage is collected by the GUI thread alone.

Python collects wherever the count of new objects runs over, and the threads that
unpickle what workers say make many. There, a cycle that holds Qt objects would be
taken apart beside the GUI thread, which may be just deleting the same objects in
Qt: a crash now and then, in the bindings, far from its cause. So Python's own
collector is off, and a timer of the event loop does its work by its counts.

Rejected: `gc.freeze`, which spares what was built before and nothing later; a
lock around unpickling, which the collector does not know.
"""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS: Final = 500


class GarbageCollector(QObject):
    """Collects cyclic garbage between two events, as long as it lives; Python's own collector is off meanwhile."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect_due)
        self._timer.start()

    def collect_due(self) -> None:
        """Collect the oldest generation whose count has run over its threshold, and the younger ones with it."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                gc.collect(generation)
                return

    def stop(self) -> None:
        """Let Python collect by itself again."""
        self._timer.stop()
        gc.enable()
