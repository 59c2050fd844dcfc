"""A strip over the text: as what it was read, or could be, and one button for the other way."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout

from app import theme
from app.theme.buttons import close_button, push_button
from app.theme.labels import Label


class NotationHint(QFrame):
    """Hidden while there is nothing to say.

    Signals:
        chosen: the button was pressed.
        dismissed: it is not to be said again of this text.
    """

    chosen = Signal()
    dismissed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "banner")
        self.setProperty("severity", "hint")
        self.text = Label(wraps=True)
        self.button = push_button(tip="Have it the other way; undo takes that back")
        self.button.clicked.connect(self.chosen)
        self.close_button = close_button("Dismiss")
        self.close_button.clicked.connect(self.dismissed)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.text, 1)
        row.addWidget(self.button)
        row.addWidget(self.close_button)
        self.hide()

    def say(self, text: str, button: str) -> None:
        """Say something, with a way to have it otherwise; nothing hides the strip."""
        self.text.setText(text)
        self.button.setText(button)
        self.setVisible(bool(text))
