"""A widget whose texts change without moving what stands around it.

A label that is given a text tells its layout, that one the layout around it, and so up
to the window, all of which reckon their sizes anew: for the texts that change with
every step that took as long as painting them. Here the way up ends where the size that
is needed did not change.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QWidget


class StableWidget(QWidget):
    """Holds what is laid out in `inner`, and asks for room only where more or less of it is needed.

    Attributes:
        inner: fills it.

    Args:
        parent: as of any widget.
        takes_what_is_left: whether its width is what others leave; then it asks for none.
    """

    def __init__(self, parent: QWidget | None = None, *, takes_what_is_left: bool = False) -> None:
        super().__init__(parent)
        self._takes_what_is_left = takes_what_is_left
        self.inner = QWidget(self)
        self._needed = -1  # the height that was asked for last

    @classmethod
    def around(cls, widget: QWidget) -> StableWidget:
        """Around a single widget, for a place whose width does not depend on it."""
        steady = cls()
        layout = QHBoxLayout(steady.inner)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(widget)
        return steady

    def hasHeightForWidth(self) -> bool:
        """Where the inner layout has."""
        return self._layout is not None and self._layout.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        """What the inner layout needs."""
        layout = self._layout
        return -1 if layout is None or not layout.hasHeightForWidth() else layout.totalHeightForWidth(width)

    def sizeHint(self) -> QSize:
        """What the inner layout would have."""
        return self.inner.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """What the inner layout needs."""
        needed = self.inner.minimumSizeHint()
        return QSize(0, needed.height()) if self._takes_what_is_left else needed

    @property
    def _layout(self) -> QLayout | None:
        return self.inner.layout()

    def event(self, event: QEvent) -> bool:
        """A layout that changed within is of interest outside only where it needs another size."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._ask()
        return super().event(event)

    def _ask(self) -> None:
        least = self.minimumSizeHint()
        needed = self.heightForWidth(self.width()) if self.hasHeightForWidth() else least.height()
        if needed != self._needed or least.width() > self.width():
            self._needed = needed
            self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The inner one has all the room."""
        super().resizeEvent(event)
        self.inner.resize(self.size())
        self._ask()  # what was told of this width may have been another text's
