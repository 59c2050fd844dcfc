"""Short texts side by side, which give way to one another where the window is narrow.

A text has parts, the most telling first. Where they have no room, parts go in an order that is given, then whole
texts but for the last; what is too long even then ends in an ellipsis. The tool tip has all that is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout

from app import theme
from app.theme.plain_text import plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.stable_widget import StableWidget

_APART = 6  # as QStatusBar has its own items
_BETWEEN = " · "


class StatusFields(StableWidget):
    """Some texts.

    Args:
        count: how many texts there are.
        first_to_go: numbers of texts, in the order in which each loses the last part that it has left.
    """

    def __init__(self, count: int, first_to_go: Sequence[int]) -> None:
        super().__init__(takes_what_is_left=True)  # every step tells other numbers
        self._first_to_go = first_to_go
        self._told: list[tuple[str, ...]] = [()] * count
        self._labels = [ElidedLabel() for _ in range(count)]
        row = QHBoxLayout(self.inner)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_APART)
        for label in self._labels:
            label.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_M, 0)
            row.addWidget(label)
        row.addStretch()

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is told, be it seen or not."""
        return tuple(map(_BETWEEN.join, self._told))

    def tell(self, index: int, *parts: str) -> None:
        """Tell a text's parts, the most telling first; none clear it."""
        told = tuple(filter(None, parts))
        if told != self._told[index]:
            self._told[index] = told
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More has room now, or less."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        seen = list(self._told)
        losses = [(index, True) for index in self._first_to_go] + [(index, False) for index in range(len(seen) - 1)]
        for index, keeps_one in losses:
            if self._width_of(seen) <= self.width():
                break
            seen[index] = seen[index][: max(len(seen[index]) - 1, 1)] if keeps_one else ()
        for label, parts in zip(self._labels, seen, strict=True):
            label.set_text(_BETWEEN.join(parts))
            label.setVisible(bool(parts))
        # A label that is cut says all of itself; what was left out is said by what they stand in.
        self.setToolTip(plain_text("" if seen == self._told else "\n".join(filter(None, self.texts))))

    def _width_of(self, seen: list[tuple[str, ...]]) -> int:
        metrics, around = self.fontMetrics(), theme.SPACE_XS + theme.SPACE_M + _APART
        return sum(metrics.horizontalAdvance(_BETWEEN.join(parts)) + around for parts in seen if parts)
