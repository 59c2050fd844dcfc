"""Esc closes what is open in a pane, before the window's own command gets it.

The window has a command with the key Esc. Qt offers a key to the widget with the focus first (`ShortcutOverride`), then
to those around it: whoever accepts it there gets the key itself, and the command does not.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget


class CloseOnEscape(QObject):
    """Closes something when Esc is pressed in a widget, or in one within it that does not take the key itself.

    Args:
        widget: where the key is pressed.
        is_open: whether there is something to close; where there is not, the key is left to others.
        close: closes it.
    """

    def __init__(self, widget: QWidget, is_open: Callable[[], bool], close: Callable[[], object]) -> None:
        super().__init__(widget)
        self._is_open, self._close = is_open, close
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the key where there is something to close."""
        if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape or not self._is_open():
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            self._close()
            return True
        return False
