"""Context menus of panes: the row under the pointer, and the commands that the pane declares."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QTextEdit, QTreeView, QVBoxLayout, QWidget

from app.commands import DECLARED, Commands
from app.theme.mnemonics import without_mnemonic
from app.window.pane_menus import give_pane_menu
from app.window.panes import PANES

REASONS = QContextMenuEvent.Reason


@pytest.fixture
def pane(qtbot):
    pane = QWidget()
    qtbot.addWidget(pane)
    layout = QVBoxLayout(pane)
    model = QStandardItemModel(pane)
    model.appendRow([QStandardItem("a"), QStandardItem(""), QStandardItem("0.5")])
    view = QTreeView()
    view.setModel(model)
    for widget in (QLabel("title"), view, QTextEdit("text")):
        layout.addWidget(widget)
    give_pane_menu(pane, Commands(pane), ("run.step", "run.back"))
    pane.resize(400, 400)
    pane.show()
    qtbot.waitExposed(pane)
    return pane


def right_click(widget: QWidget, at: QPoint, reason: QContextMenuEvent.Reason = REASONS.Mouse) -> list[str]:
    """Send what a right click, or the menu key, sends; return the entries of the menu that opens."""
    QApplication.sendEvent(widget, QContextMenuEvent(reason, at, widget.mapToGlobal(at)))
    menu = QApplication.activePopupWidget()
    if not isinstance(menu, QMenu):
        return []
    entries = [without_mnemonic(action.text()) for action in menu.actions() if not action.isSeparator()]
    menu.actions()[0].trigger()
    menu.close()
    return entries


def test_a_row_is_copied_with_tabs(pane):
    view = pane.findChild(QTreeView)
    row = view.visualRect(view.model().index(0, 0)).center()
    entries = right_click(view.viewport(), row)
    assert len(entries) == 3
    assert QGuiApplication.clipboard().text() == "a\t0.5"


def test_the_menu_key_is_for_the_current_row(pane, qtbot):
    view = pane.findChild(QTreeView)
    pane.activateWindow()
    view.setCurrentIndex(view.model().index(0, 0))
    view.setFocus(Qt.FocusReason.OtherFocusReason)
    qtbot.waitUntil(view.hasFocus)
    assert len(right_click(view, QPoint(5, 5), REASONS.Keyboard)) == 3


def test_beside_a_row_there_are_the_commands_of_the_pane(pane):
    titles = [DECLARED[one].title for one in ("run.step", "run.back")]
    assert right_click(pane.findChild(QLabel), QPoint(3, 3)) == titles
    view = pane.findChild(QTreeView)
    assert right_click(view.viewport(), view.viewport().rect().bottomRight() - QPoint(5, 5)) == titles


def test_a_text_keeps_its_own_menu(pane):
    entries = right_click(pane.findChild(QTextEdit).viewport(), QPoint(5, 5))
    assert entries
    assert DECLARED["run.step"].title not in entries


@pytest.mark.parametrize("spec", [one for one in PANES if one.id != "editor"], ids=lambda spec: spec.id)
def test_every_pane_declares_commands_that_there_are(spec):
    assert spec.menu
    assert set(spec.menu) <= DECLARED.keys()
