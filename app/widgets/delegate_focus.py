"""Keys that a pane is given, and that a widget in it should have.

Rejected: Qt's focus proxies. The Tab key comes to the pane, which is before what it
holds, and jumps from there to the proxy: every button between the two is left out. And
a proxy that is hidden refuses the keys, so that Tab never gets any further. A pane that
only passes on what it is given is no stop of the Tab key at all.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget


class _Passing(QObject):
    """Waits for a pane to be given the keys."""

    def __init__(self, pane: QWidget, inner: tuple[QWidget, ...]) -> None:
        super().__init__(pane)
        self._inner = inner
        pane.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass them on to the first that can be seen."""
        # Of other events it looks at nothing of its own: they come, too, while the garbage collector takes it apart.
        if not isinstance(event, QFocusEvent) or event.type() != QEvent.Type.FocusIn:
            return False
        if isinstance(watched, QWidget):
            found = next((one for one in self._inner if one.isVisibleTo(watched) and one.isEnabled()), None)
            if found is not None:
                found.setFocus(event.reason())
        return False


def delegate_focus(pane: QWidget, *inner: QWidget) -> None:
    """Have a pane that is given the keys (`setFocus`) pass them on to the first of some widgets that can be seen."""
    _Passing(pane, inner)


def delegates_focus(pane: QWidget) -> bool:
    """Whether a pane knows whom to give its keys."""
    return pane.findChild(_Passing, options=Qt.FindChildOption.FindDirectChildrenOnly) is not None
