"""Opens documents and grammars that are dropped anywhere on the window.

A text field would insert a file's address as text, so the fields leave files to the window.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class Drops(QObject):
    """Handles files that are dropped on some widgets.

    Args:
        taken: called with a file.
        window: handles drops on itself and on `fields`.
        fields: text fields in it.
    """

    def __init__(self, taken: Callable[[Path], object], window: QWidget, *fields: QWidget) -> None:
        super().__init__(window)
        self._taken = taken
        for widget in (window, *fields):
            widget.setAcceptDrops(True)
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle a dropped file, and leave text to the widget."""
        if isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            path = file_of(event.mimeData())
            if path is not None:
                event.setDropAction(Qt.DropAction.CopyAction)
                event.accept()
                if event.type() == QEvent.Type.Drop:
                    self._taken(path)
                return True
        return super().eventFilter(watched, event)


def file_of(data: QMimeData) -> Path | None:
    """Return the one file that is dragged; None if there are several, or none."""
    urls = data.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
