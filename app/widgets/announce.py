"""What happens without the keys moving is told to a screen reader, if there is one."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def announce(source: QWidget, text: str, *, is_urgent: bool = False) -> None:
    """Have a screen reader say something.

    Args:
        source: where it comes from.
        text: what to say.
        is_urgent: whether it interrupts what is being said.
    """
    event = QAccessibleAnnouncementEvent(source, text)
    if is_urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)
