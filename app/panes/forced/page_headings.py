"""Widgets that the pages of this pane share."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.theme.labels import Label


def summary_label(text: str) -> QLabel:
    """Return a label for a page's summary."""
    summary = Label(text, wraps=True)
    summary.setProperty("role", "muted")
    return summary


def page_layout(page: QWidget, summary: QLabel, *buttons: QToolButton) -> QVBoxLayout:
    """Return a page's layout: its summary with buttons beside it, and space for the rest below."""
    head = QHBoxLayout()
    head.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_S, 0)
    head.setSpacing(theme.SPACE_S)
    layout = QVBoxLayout(page)
    layout.setContentsMargins(0, theme.SPACE_XS, 0, 0)
    layout.setSpacing(theme.SPACE_XS)
    layout.addLayout(head)
    head.addWidget(summary, 1)
    for button in buttons:
        head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
    return layout


def empty_background() -> QLabel:
    """Return the background of a page with nothing to list: that of a list, not of the window."""
    background = Label()
    background.setProperty("role", "empty")
    return background
