"""Buttons: what a screen reader says of them, and what keys they take."""

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QVBoxLayout

from app.catalogue import ui_text
from app.theme.buttons import close_button, give_menu, icon_button, push_button, tool_button


def said(button) -> str:
    return QAccessible.queryAccessibleInterface(button).text(QAccessible.Text.Name)


@pytest.mark.parametrize("make", [tool_button, push_button])
def test_a_text_is_said_also_after_it_has_changed(qtbot, make):
    button = make("Compare", "Ask the model")
    qtbot.addWidget(button)
    assert said(button) == "Compare"
    button.setText("Cancel")
    assert said(button) == "Cancel"


def test_an_ampersand_is_no_mark_of_a_key(qtbot):
    button = tool_button("a & b")
    qtbot.addWidget(button)
    assert button.text() == "a && b"
    assert button.shortcut().isEmpty()


@pytest.mark.parametrize(
    ("button", "name", "tip"),
    [
        (lambda: tool_button("−", "Zoom out (Ctrl+−)", name="Zoom"), "Zoom", "Zoom out (Ctrl+−)"),
        (
            lambda: icon_button("ph.copy", ui_text("editor.explanation.copy")),
            ui_text("editor.explanation.copy"),
            ui_text("editor.explanation.copy"),
        ),
        (lambda: close_button("Close the search", "Close (Esc)"), "Close the search", "Close (Esc)"),
    ],
)
def test_a_sign_has_a_name_and_the_tab_key_reaches_it(qtbot, button, name, tip):
    made = button()
    qtbot.addWidget(made)
    assert (said(made), made.toolTip()) == (name, tip)
    assert made.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_return_in_a_field_presses_no_push_button_of_its_dialog(qtbot):
    dialog, field, button = QDialog(), QLineEdit(), push_button("Remove all")
    qtbot.addWidget(dialog)
    layout = QVBoxLayout(dialog)
    layout.addWidget(field)
    layout.addWidget(button)
    pressed = []
    button.clicked.connect(lambda: pressed.append(True))
    dialog.show()
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert pressed == []
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert pressed == [True]


@pytest.mark.parametrize("is_on_it", [False, True])
def test_a_button_looks_at_rest_once_its_menu_is_closed_unless_the_pointer_is_on_it(qtbot, monkeypatch, is_on_it):
    """Qt sends the button no leave event while its menu is open."""
    button, menu = tool_button("File"), QMenu()
    menu.addAction("New")
    give_menu(button, menu)
    qtbot.addWidget(button)
    qtbot.addWidget(menu)
    button.move(300, 300)  # where Qt's own pointer is not
    button.show()
    qtbot.waitExposed(button)
    inside = button.mapToGlobal(button.rect().center())
    pointer = SimpleNamespace(pos=lambda: inside if is_on_it else inside + QPoint(900, 900))
    monkeypatch.setattr("app.theme.buttons.QCursor", pointer)
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    menu.popup(inside)
    qtbot.waitUntil(menu.isVisible)
    menu.hide()
    qtbot.turns()
    assert button.testAttribute(Qt.WidgetAttribute.WA_UnderMouse) == is_on_it
