"""A verdict in a sentence, with the colour and the sign of how bad it is."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout

from app import theme
from app.theme.icons import IconLabel
from app.theme.labels import Label

Severity = Literal["allowed", "hint", "warning", "error"]

_SIGN = 20  # pixels
_SIGNS = {
    "allowed": ("ph.check-circle-fill", theme.Role.ALLOWED),
    "warning": ("ph.warning-fill", theme.Role.WARNING),
    "error": ("ph.x-circle-fill", theme.Role.ERROR),
    "hint": ("ph.info", theme.Role.HINT),
}


class VerdictBanner(QFrame):
    """Says one verdict at a time.

    Attributes:
        label: shows the sentence.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "banner")
        self.label = Label(wraps=True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._sign = IconLabel(_SIGN)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.label, 1)

    def text(self) -> str:
        """The sentence that is shown."""
        return self.label.text()

    def say(self, severity: Severity, sentence: str) -> None:
        """Show another verdict."""
        self.label.setText(sentence)
        self._sign.show_icon(*_SIGNS[severity])
        self.setProperty("severity", severity)
        self.style().unpolish(self)  # the style sheet looks at properties only then
        self.style().polish(self)
