"""Labels: one that is cut with an ellipsis, a banner, and the page that stands where nothing is to be shown."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from app import theme
from app.theme.labels import Label
from app.theme.plain_text import plain_text

_SIGNS = {"error": "✕", "warning": "⚠", "hint": "i", "allowed": "✓"}


class ElidedLabel(Label):
    """One line, said shorter or cut where there is no more room; the tooltip has it whole."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._whole = ""
        self._shorter: tuple[str, ...] = ()
        self.setProperty("role", "muted")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)

    @property
    def whole(self) -> str:
        """The text before it was cut."""
        return self._whole

    def say(self, text: str, *shorter: str) -> None:
        """Show another text, or the first of the shorter ones that there is room for; the last is cut if need be."""
        self._whole = text.replace("\n", " ")
        self._shorter = shorter
        self.setAccessibleName(self._whole)
        self._cut()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut anew."""
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        room = self.contentsRect().width()
        metrics, texts = self.fontMetrics(), (self._whole, *self._shorter)
        text = next((text for text in texts if metrics.horizontalAdvance(text) <= room), texts[-1])
        cut = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(room, 0))
        self.setText(cut)
        self.setToolTip(plain_text(self._whole if cut != self._whole else ""))


class Banner(QFrame):
    """A line across a pane that says what is wrong with what it shows; hidden while it has nothing to say."""

    def __init__(self, severity: Literal["error", "warning", "hint", "allowed"]) -> None:
        super().__init__()
        self.setProperty("role", "banner")
        self.setProperty("severity", severity)
        self._text = Label()
        self._text.setWordWrap(True)
        self._sign = Label(_SIGNS[severity])
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._text, 1)
        self._row = layout
        self.hide()

    def add_control(self, control: QWidget) -> None:
        """Put a control at the end of the line."""
        self._row.setAlignment(self._sign, Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(control)

    @property
    def text(self) -> str:
        """What it says now."""
        return self._text.text()

    def say(self, text: str) -> None:
        """Say something; with an empty text, hide."""
        self._text.setText(text)
        self.setVisible(bool(text))


def empty_page(text: str) -> QLabel:
    """What stands in a pane that has nothing to show yet: why, and what to do."""
    label = Label(text)
    label.setProperty("role", "empty")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setWordWrap(True)
    label.setMargin(theme.SPACE_L)
    return label
