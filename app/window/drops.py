"""Files that are dropped on the window: a document or a grammar opens, wherever it falls.

A text field would else take a file's address as text, so the fields leave files to
the window.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class Drops(QObject):
    """Takes files that fall on some widgets.

    Args:
        taken: is told of a file.
        window: whatever falls on it, or on `fields`, is taken.
        fields: text fields within it.
    """

    def __init__(self, taken: Callable[[Path], object], window: QWidget, *fields: QWidget) -> None:
        super().__init__(window)
        self._taken = taken
        for widget in (window, *fields):
            widget.setAcceptDrops(True)
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is a file, and leave text to where it falls."""
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
    """The one file that is dragged; None where there are several, or none."""
    urls = data.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
