"""Keyboard focus and keys: a pane's focus, Escape, and the keys of a text field.

A pane passes its focus on to a widget in it. Rejected: Qt's focus proxies. Tab reaches the pane, which precedes its
children, and jumps from there to the proxy, so every button between the two is skipped. And a hidden proxy refuses the
focus, so that Tab stops there. A pane that only passes its focus on is no tab stop at all.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget


def delegate_focus(pane: QWidget, *inner: QWidget) -> None:
    """Make a pane that gets the focus (`setFocus`) pass it on to the first visible and enabled one of some widgets."""
    _FocusFilter(pane, inner)


def delegates_focus(pane: QWidget) -> bool:
    """Return whether a pane passes its focus on."""
    return pane.findChild(_FocusFilter, options=Qt.FindChildOption.FindDirectChildrenOnly) is not None


class _FocusFilter(QObject):
    """Waits for a pane to get the focus."""

    def __init__(self, pane: QWidget, inner: tuple[QWidget, ...]) -> None:
        super().__init__(pane)
        self._inner = inner
        pane.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the focus on to the first visible widget."""
        # Other events must touch no attribute of this object: they also arrive while the garbage collector destroys it.
        if not isinstance(event, QFocusEvent) or event.type() != QEvent.Type.FocusIn:
            return False
        if isinstance(watched, QWidget):
            found = next((one for one in self._inner if one.isVisibleTo(watched) and one.isEnabled()), None)
            if found is not None:
                found.setFocus(event.reason())
        return False


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
        self.on_return, self.on_escape, self.on_down = entered, left, down
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
                self.on_escape()
            return is_pressed
        if is_pressed and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.on_return(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            return True
        if is_pressed and event.key() == Qt.Key.Key_Down and self.on_down is not None:
            self.on_down()
            return True
        return False
