"""Factories of buttons with a text, a tool tip and a style.

The text is also the accessible name, and remains it if the text changes; a button with a symbol instead has an explicit
name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QPushButton, QToolButton

from app.theme.icons import icon
from app.theme.labels import plain_text

_ICON = 16
_CLOSE = 24  # the minimum target size of WCAG 2.2 (2.5.8)

Clicked = Callable[..., object]
_Button = TypeVar("_Button", bound=QAbstractButton)


def tool_button(
    text: str,
    tip: str = "",
    *,
    name: str = "",
    role: str = "",
    checkable: bool = False,
    clicked: Clicked | None = None,
) -> QToolButton:
    """Create a small button.

    Args:
        text: its label.
        tip: its tool tip.
        name: its accessible name, if the text is only a symbol.
        role: its style.
        checkable: whether it is on or off.
        clicked: called when it is clicked.
    """
    button = _configured(QToolButton(), text, tip, role, checkable=checkable, clicked=clicked)
    button.setAccessibleName(name)
    return button


def push_button(
    text: str = "", tip: str = "", *, role: str = "", checkable: bool = False, clicked: Clicked | None = None
) -> QPushButton:
    """Create a push button; in a dialog, Return in a field does not press it.

    Args:
        text: its label.
        tip: its tool tip.
        role: its style.
        checkable: whether it is on or off.
        clicked: called when it is clicked.
    """
    button = _configured(QPushButton(), text, tip, role, checkable=checkable, clicked=clicked)
    button.setAutoDefault(False)
    return button


def icon_button(
    icon_name: str, name: str, tip: str = "", *, checkable: bool = False, clicked: Clicked | None = None
) -> QToolButton:
    """Create a button with an icon; by default its tip is its name.

    Args:
        icon_name: the icon.
        name: its accessible name.
        tip: its tool tip.
        checkable: whether it is on or off.
        clicked: called when it is clicked.
    """
    button = tool_button("", tip or name, name=name, checkable=checkable, clicked=clicked)
    button.setIcon(icon(icon_name))
    button.setIconSize(QSize(_ICON, _ICON))
    return button


def close_button(name: str = "Close", tip: str = "", *, clicked: Clicked | None = None) -> QToolButton:
    """Create the cross that closes a banner, popup or the like.

    Args:
        name: its name for screen readers.
        tip: its tip; the name by default.
        clicked: what a click calls.
    """
    button = icon_button("ph.x", name, tip, clicked=clicked)
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


def _configured(
    button: _Button, text: str, tip: str, role: str, *, checkable: bool, clicked: Clicked | None
) -> _Button:
    button.setText(text.replace("&", "&&"))  # Qt reads a single one as a mnemonic
    button.setToolTip(plain_text(tip))
    button.setCheckable(checkable)
    if role:
        button.setProperty("role", role)
    if clicked is not None:
        button.clicked.connect(clicked)
    return button
