"""Closes an open part of a pane with Esc, before the window's Esc command gets the key.

Qt offers a key to the focused widget first (`ShortcutOverride`), then to its parents: a widget that accepts the event
receives the key itself, and the command does not.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget


class CloseOnEscape(QObject):
    """Closes something when Esc is pressed in a widget or in a child that does not handle the key itself.

    Args:
        widget: where the key is pressed.
        is_open: whether there is something to close; if not, the key is left to others.
        close: closes it.
    """

    def __init__(self, widget: QWidget, is_open: Callable[[], bool], close: Callable[[], object]) -> None:
        super().__init__(widget)
        self._is_open, self._close = is_open, close
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the key if there is something to close."""
        if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape or not self._is_open():
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            self._close()
            return True
        return False
