"""The small parts that the pages of this pane share."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton


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


def empty_ground() -> QLabel:
    """What a page is made of where it has nothing to list yet: the ground of a list, not of the window."""
    ground = QLabel()
    ground.setProperty("role", "empty")
    return ground
