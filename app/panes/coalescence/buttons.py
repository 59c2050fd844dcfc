"""The buttons of this pane."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton


def button(text: str, tip: str, *, checkable: bool = False) -> QToolButton:
    """A small button: what it is called, and what it does in a sentence."""
    made = QToolButton()
    made.setText(text)
    made.setToolTip(tip)
    made.setAccessibleName(text)
    made.setCheckable(checkable)
    made.setProperty("role", "outlined")
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made
