"""How this pane makes a button: its text, what it does in a sentence, its look."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QAbstractButton, QPushButton, QToolButton

Button = TypeVar("Button", bound=QAbstractButton)


def tool_button(text: str, tip: str, *, role: str = "", checkable: bool = False) -> QToolButton:
    """A small button beside what it is about."""
    return _dressed(QToolButton(), text, tip, role, checkable=checkable)


def push_button(text: str, tip: str, *, role: str = "", checkable: bool = False) -> QPushButton:
    """A button that does something."""
    return _dressed(QPushButton(), text, tip, role, checkable=checkable)


def close_button(tip: str) -> QToolButton:
    """The cross that closes what it stands in."""
    button = tool_button("✕", tip)
    button.setAccessibleName(tip)
    return button


def _dressed(button: Button, text: str, tip: str, role: str, *, checkable: bool) -> Button:
    button.setText(text.replace("&", "&&"))  # Qt reads a single one as the mark of a key
    button.setToolTip(tip)
    button.setCheckable(checkable)
    if role:
        button.setProperty("role", role)
    return button
