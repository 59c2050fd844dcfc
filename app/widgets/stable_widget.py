"""A widget whose texts change without a new layout of its surroundings.

A label whose text changes invalidates its layout, that one the layout around it, and so on up to the window, all of
which compute their sizes again: for texts that change with every step, that took as long as painting them. Here the
invalidation stops if the required size did not change.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QWidget


class StableWidget(QWidget):
    """Contains the layout of `inner`, and updates its geometry only if the required size changes.

    Attributes:
        inner: fills it.

    Args:
        parent: as of any widget.
        takes_what_is_left: whether its width is determined by others; then it has no minimum width.
    """

    def __init__(self, parent: QWidget | None = None, *, takes_what_is_left: bool = False) -> None:
        super().__init__(parent)
        self._takes_what_is_left = takes_what_is_left
        self.inner = QWidget(self)
        self._needed = -1  # the last requested height

    @classmethod
    def around(cls, widget: QWidget) -> StableWidget:
        """Create one around a single widget, whose width does not matter to the layout."""
        stable = cls()
        layout = QHBoxLayout(stable.inner)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(widget)
        return stable

    def hasHeightForWidth(self) -> bool:
        """Return whether the inner layout has."""
        return self._layout is not None and self._layout.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        """Return the height of the inner layout."""
        layout = self._layout
        return -1 if layout is None or not layout.hasHeightForWidth() else layout.totalHeightForWidth(width)

    def sizeHint(self) -> QSize:
        """Return the size hint of the inner widget."""
        return self.inner.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size of the inner widget."""
        needed = self.inner.minimumSizeHint()
        return QSize(0, needed.height()) if self._takes_what_is_left else needed

    @property
    def _layout(self) -> QLayout | None:
        return self.inner.layout()

    def event(self, event: QEvent) -> bool:
        """Forward a layout request only if the required size changed."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._update_size()
        return super().event(event)

    def _update_size(self) -> None:
        least = self.minimumSizeHint()
        needed = self.heightForWidth(self.width()) if self.hasHeightForWidth() else least.height()
        if needed != self._needed or least.width() > self.width():
            self._needed = needed
            self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Resize the inner widget."""
        super().resizeEvent(event)
        self.inner.resize(self.size())
        self._update_size()  # the height requested for this width may have been that of another text
