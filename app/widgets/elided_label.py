"""A label of one line that ends in an ellipsis where there is no room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme.labels import Label
from app.theme.plain_text import plain_text


class ElidedLabel(Label):
    """Plain text, cut to the width; the tool tip holds all of it where it is cut."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)

    def minimumSizeHint(self) -> QSize:
        """It may be as narrow as one likes."""
        return QSize(24, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, cut to fit."""
        painter = QPainter(self)
        box = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, box.width())
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(box, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), text)
        self.setToolTip(plain_text(self.text() if text != self.text() else ""))
