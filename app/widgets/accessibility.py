"""Announcements of a screen reader, and accessible roles of custom widgets.

Qt reports every scroll area as a client area, which AT-SPI maps to a filler: a screen reader may skip it with its name.
The factory of roles is called only while a screen reader, or a test, inspects the window.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

_ROLE = "accessibleRole"  # a property of widgets


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


def give_role(widget: QWidget, role: QAccessible.Role) -> None:
    """Set the accessible role of a widget; its name and its description stay unchanged."""
    _install()
    widget.setProperty(_ROLE, role.value)


@cache
def _install() -> None:
    QAccessible.installFactory(_interface_of)


def _interface_of(_class_name: str, target: QObject | None) -> QAccessibleInterface | None:
    if not isinstance(target, QWidget) or (role := target.property(_ROLE)) is None:
        return None
    return QAccessibleWidget(target, QAccessible.Role(role))
