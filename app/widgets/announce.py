"""Announces changes outside of the focused widget to a screen reader."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def announce(source: QWidget, text: str, *, is_urgent: bool = False) -> None:
    """Have a screen reader speak a text.

    Args:
        source: the widget that the text is about.
        text: the text to speak.
        is_urgent: whether it interrupts the current speech.
    """
    event = QAccessibleAnnouncementEvent(source, text)
    if is_urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)
