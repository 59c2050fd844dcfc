"""What a widget of our own is to a screen reader.

Qt calls whatever scrolls a client area, which AT-SPI knows as mere filler: it may be skipped, name and all. The
factory is asked only while a screen reader, or a test, looks.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

_ROLE = "accessibleRole"  # a property of widgets


def give_role(widget: QWidget, role: QAccessible.Role) -> None:
    """Have a widget be something; its name and its description stay its own."""
    _install()
    widget.setProperty(_ROLE, role.value)


@cache
def _install() -> None:
    QAccessible.installFactory(_interface_of)


def _interface_of(_class_name: str, thing: QObject | None) -> QAccessibleInterface | None:
    if not isinstance(thing, QWidget) or (role := thing.property(_ROLE)) is None:
        return None
    return QAccessibleWidget(thing, QAccessible.Role(role))
