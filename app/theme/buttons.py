"""Buttons: what each is called, what it does in a sentence, and its look.

A text is what a screen reader says, too, and stays so where the text changes; what shows a sign instead has a name.
"""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QPushButton, QToolButton

from app.theme.icons import icon
from app.theme.plain_text import plain_text

_ICON = 16
_CLOSE = 24  # the least that WCAG 2.2 asks of a target (2.5.8)

_Button = TypeVar("_Button", bound=QAbstractButton)


def tool_button(text: str, tip: str = "", *, name: str = "", role: str = "", checkable: bool = False) -> QToolButton:
    """A small button beside what it is about; `name` is for a text that is but a sign."""
    button = _dressed(QToolButton(), text, tip, role, checkable=checkable)
    button.setAccessibleName(name)
    return button


def push_button(text: str = "", tip: str = "", *, role: str = "", checkable: bool = False) -> QPushButton:
    """A button that does something; in a dialog, Return in a field does not press it."""
    button = _dressed(QPushButton(), text, tip, role, checkable=checkable)
    button.setAutoDefault(False)
    return button


def icon_button(icon_name: str, name: str, tip: str = "", *, checkable: bool = False) -> QToolButton:
    """A button with an icon for a face; its name is its tip where there is no other."""
    button = tool_button("", tip or name, name=name, checkable=checkable)
    button.setIcon(icon(icon_name))
    button.setIconSize(QSize(_ICON, _ICON))
    return button


def close_button(name: str = "Close", tip: str = "") -> QToolButton:
    """The cross that closes what it stands in."""
    button = icon_button("ph.x", name, tip)
    button.setProperty("role", "close")
    button.setFixedSize(_CLOSE, _CLOSE)
    return button


def give_menu(button: QPushButton | QToolButton, menu: QMenu) -> None:
    """Set the menu of a button, and clear the button's hover state when the menu closes.

    Qt sends the button no leave event while its menu is open.
    """
    button.setMenu(menu)
    menu.aboutToHide.connect(lambda: QTimer.singleShot(0, button, lambda: _clear_hover(button)))


def _clear_hover(button: QAbstractButton) -> None:
    if not button.rect().contains(button.mapFromGlobal(QCursor.pos())):
        QApplication.sendEvent(button, QEvent(QEvent.Type.Leave))
        button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
        button.update()


def _dressed(button: _Button, text: str, tip: str, role: str, *, checkable: bool) -> _Button:
    button.setText(text.replace("&", "&&"))  # Qt reads a single one as the mark of a key
    button.setToolTip(plain_text(tip))
    button.setCheckable(checkable)
    if role:
        button.setProperty("role", role)
    return button
