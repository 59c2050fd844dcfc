"""Keys of a text field with a special meaning: Return, Escape, and Down into a list."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit


class FieldKeys(QObject):
    """Handles some keys before the field and the window do.

    Attributes:
        entered: called for Return with 1, or with -1 for Shift+Return.
        left: called for Escape.
        down: called for the Down arrow.
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
        """Call the handler of the key."""
        if not isinstance(event, QKeyEvent):
            return False
        is_pressed = event.type() == QEvent.Type.KeyPress
        if event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()  # otherwise the window would handle Esc
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
