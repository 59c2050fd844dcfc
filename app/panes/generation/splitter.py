"""Distributes the height between the output and the pages below it.

The output gets the height of its chips and no more, since in a low window every spare line can show a candidate. In a
high window three lines are reserved from the beginning, so that the table does not move with the first steps. Once the
user has moved the splitter, it stays. If the height is only a few lines of text, `tightened` tells the parts to use a
compact layout.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from app.panes.generation.output import OutputBox

_HIGH_FROM = 600  # pixels
_SHARE = 0.25  # the largest share of the height that the output takes
_TIGHT_BELOW = 22  # lines of text: everything around the candidates needs about twelve and cannot be made lower


class OutputSplitter(QSplitter):
    """The output above the pages.

    Signals:
        tightened(is tight): there is hardly room for the candidates, or there is again.

    Args:
        output: the upper part.
        following: the lower part, which grows with the window.
    """

    tightened = Signal(bool)

    def __init__(self, output: OutputBox, following: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._output = output
        self._was_moved = False  # by the user
        self._is_tight = False
        self.setChildrenCollapsible(False)
        self.addWidget(output)
        self.addWidget(following)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._keep)

    def fit(self) -> None:
        """Give the output the height of its chips."""
        if self._was_moved or not self.height():
            return
        chips = self._output.chips
        least = self._output.minimumSizeHint().height()
        around = least - chips.minimumSizeHint().height()
        roomy = chips.sizeHint().height() if self.height() >= _HIGH_FROM else 0
        most = max(least, round(self.height() * _SHARE))
        wanted = max(least, min(around + max(chips.content_height, roomy), most))
        if self._output.height() != wanted:
            self.setSizes([wanted, self.height() - wanted])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new height, or wrap at the new width."""
        super().resizeEvent(event)
        is_tight = self.height() < _TIGHT_BELOW * self.fontMetrics().lineSpacing()
        if is_tight != self._is_tight:
            self._is_tight = is_tight
            self.tightened.emit(is_tight)
        self.fit()

    def _keep(self, _position: int, _index: int) -> None:
        self._was_moved = True
