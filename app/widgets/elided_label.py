"""A label of one line that is shortened if its text does not fit.

The label keeps the full text for screen readers and `text()`, and draws as much of it as fits.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from app.theme.labels import Label, plain_text

_LEAST_WIDTH = 24  # pixels: an ellipsis and a letter
_FONT_CHANGES = (QEvent.Type.FontChange, QEvent.Type.StyleChange)


class ElidedLabel(Label):
    """One line of plain text, or as much of it as fits; the tool tip has the full text then.

    Args:
        text: the text.
        role: how the style sheet colours it.
        fills: whether the label takes the width that others leave, and requests none.
    """

    _shorter: tuple[str, ...] = ()
    _shown = ""

    def __init__(self, text: str = "", *, role: str = "muted", fills: bool = False) -> None:
        super().__init__()
        if role:
            self.setProperty("role", role)
        if fills:
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    def set_text(self, text: str, *shorter: str) -> None:
        """Show another text.

        Args:
            text: the text; line breaks become spaces.
            shorter: texts to show instead if the text does not fit, longest first; the last one is cut if necessary.
        """
        self._shorter = shorter
        super().setText(text.replace("\n", " "))
        self._elide()

    def setText(self, text: str) -> None:
        """Show another text that has no shorter form."""
        self.set_text(text)

    @property
    def shown_text(self) -> str:
        """Return the text as it is drawn."""
        return self._shown

    def minimumSizeHint(self) -> QSize:
        """Return the size of an ellipsis: the text may be cut."""
        return QSize(_LEAST_WIDTH, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text to the new width."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Fit the text again when the font changes."""
        super().changeEvent(event)
        if event.type() in _FONT_CHANGES:
            self._elide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the text that fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        flags = int(self.alignment() | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
        painter.drawText(self.contentsRect(), flags, self._shown)
        painter.end()

    def _elide(self) -> None:
        width, metrics = max(self.contentsRect().width(), 0), self.fontMetrics()
        texts = (self.text(), *self._shorter)
        fitting = next((text for text in texts if metrics.horizontalAdvance(text) <= width), texts[-1])
        self._shown = metrics.elidedText(fitting, Qt.TextElideMode.ElideRight, width)
        self.setToolTip(plain_text(self.text() if self._shown != self.text() else ""))
        self.update()
