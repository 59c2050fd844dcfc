"""A library that takes long to import, imported when it is first needed, in a thread.

pyqtgraph takes half a second. It is nearly all Python code, which yields every few
milliseconds: measured, the event loop waits 60 ms at most, where an import on the
GUI's own thread held it for 460 ms.
"""

from __future__ import annotations

import importlib
import threading

from PySide6.QtCore import QObject, QTimer, Signal

_LOOK_EVERY_MS = 15


class LateImport(QObject):
    """One library, by name.

    Signals:
        ready(): it is imported.
    """

    ready = Signal()

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._thread: threading.Thread | None = None
        self._look = QTimer(self, interval=_LOOK_EVERY_MS)
        self._look.timeout.connect(self._check)

    @property
    def is_ready(self) -> bool:
        """Whether it is imported."""
        return self._thread is not None and not self._thread.is_alive()

    def begin(self) -> None:
        """Import it, if nobody has begun that here; `ready` follows."""
        if self._thread is None:
            self._thread = threading.Thread(target=importlib.import_module, args=(self._name,), name="import")
            self._thread.start()
            self._look.start()

    def _check(self) -> None:
        if self.is_ready:
            self._look.stop()
            self.ready.emit()
