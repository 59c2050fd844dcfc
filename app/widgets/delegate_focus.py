"""Passes the focus of a pane on to a widget in it.

Rejected: Qt's focus proxies. Tab reaches the pane, which precedes its children, and jumps from there to the proxy, so
every button between the two is skipped. And a hidden proxy refuses the focus, so that Tab stops there. A pane that only
passes its focus on is no tab stop at all.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget


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


def delegate_focus(pane: QWidget, *inner: QWidget) -> None:
    """Make a pane that gets the focus (`setFocus`) pass it on to the first visible and enabled one of some widgets."""
    _FocusFilter(pane, inner)


def delegates_focus(pane: QWidget) -> bool:
    """Return whether a pane passes its focus on."""
    return pane.findChild(_FocusFilter, options=Qt.FindChildOption.FindDirectChildrenOnly) is not None
