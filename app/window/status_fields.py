"""Short texts side by side, which are shortened if the window is narrow.

A text has parts, the most important first. If there is not enough space, parts are dropped in a given order, then
complete texts except for the last; a text that is still too long is elided. The tool tip has everything that is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout

from app import theme
from app.theme.plain_text import plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.stable_widget import StableWidget

_SPACING = 6  # like the items of QStatusBar
_SEPARATOR = " · "


class StatusFields(StableWidget):
    """A row of texts that shrinks to its width.

    Args:
        count: the number of texts.
        first_to_go: numbers of texts, in the order in which each loses its last remaining part.
    """

    def __init__(self, count: int, first_to_go: Sequence[int]) -> None:
        super().__init__(takes_what_is_left=True)  # every step changes the numbers
        self._first_to_go = first_to_go
        self._parts: list[tuple[str, ...]] = [()] * count
        self._labels = [ElidedLabel() for _ in range(count)]
        row = QHBoxLayout(self.inner)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_SPACING)
        for label in self._labels:
            label.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_M, 0)
            row.addWidget(label)
        row.addStretch()

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the complete texts, visible or not."""
        return tuple(map(_SEPARATOR.join, self._parts))

    def tell(self, index: int, *parts: str) -> None:
        """Set a text's parts, the most important first; without parts the text is hidden."""
        new_parts = tuple(filter(None, parts))
        if new_parts != self._parts[index]:
            self._parts[index] = new_parts
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the texts to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        visible = list(self._parts)
        drops = [(index, True) for index in self._first_to_go] + [(index, False) for index in range(len(visible) - 1)]
        for index, keeps_one in drops:
            if self._width_of(visible) <= self.width():
                break
            visible[index] = visible[index][: max(len(visible[index]) - 1, 1)] if keeps_one else ()
        for label, parts in zip(self._labels, visible, strict=True):
            label.set_text(_SEPARATOR.join(parts))
            label.setVisible(bool(parts))
        # An elided label has its own tool tip; the dropped parts are in the tool tip of the row.
        self.setToolTip(plain_text("" if visible == self._parts else "\n".join(filter(None, self.texts))))

    def _width_of(self, visible: list[tuple[str, ...]]) -> int:
        metrics, around = self.fontMetrics(), theme.SPACE_XS + theme.SPACE_M + _SPACING
        return sum(metrics.horizontalAdvance(_SEPARATOR.join(parts)) + around for parts in visible if parts)
