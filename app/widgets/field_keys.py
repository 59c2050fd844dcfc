"""The keys of a field that do more than write: Return, Escape, and the way down into a list."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit


class FieldKeys(QObject):
    """Takes some keys of a field before the field and the window do.

    Attributes:
        entered: what Return does; it is given 1, or -1 with Shift.
        left: what Escape does.
        down: what the arrow down does.
    """

    def __init__(
        self,
        field: QLineEdit,
        entered: Callable[[int], None],
        left: Callable[[], None],
        down: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(field)
        self.entered, self.left, self.down = entered, left, down
        field.installEventFilter(self)

    def eventFilter(self, _field: QObject, event: QEvent) -> bool:
        """Do what the key is for."""
        if not isinstance(event, QKeyEvent):
            return False
        is_pressed = event.type() == QEvent.Type.KeyPress
        if event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()  # else it would be the window's Esc
                return True
            if is_pressed:
                self.left()
            return is_pressed
        if is_pressed and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.entered(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            return True
        if is_pressed and event.key() == Qt.Key.Key_Down and self.down is not None:
            self.down()
            return True
        return False
