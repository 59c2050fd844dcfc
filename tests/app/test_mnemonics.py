"""Letters of menus and message boxes."""

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QMessageBox

from app.theme.mnemonics import add_mnemonics, mark_buttons, with_mnemonics, without_mnemonic


@pytest.mark.parametrize(
    ("titles", "marked"),
    [
        (["One…", "Second", "Second also…"], ["&One…", "&Second", "Second &also…"]),
        (["First", "First also", "Under all"], ["&First", "First &also", "&Under all"]),
        (["A", "A"], ["&A", "A"]),
        (["A && B", "…", ""], ["&A && B", "…", ""]),
        (["Undo\tCtrl+Z"], ["&Undo\tCtrl+Z"]),
    ],
)
def test_letters_differ_and_begin_words_where_they_can(titles, marked):
    assert with_mnemonics(titles) == with_mnemonics(marked) == marked
    assert [without_mnemonic(title) for title in marked] == titles


def test_an_entry_may_give_its_letter_to_one_that_has_no_other():
    assert with_mnemonics(["ab", "a"]) == ["a&b", "&a"]


def test_menus_and_message_boxes_are_marked(qtbot):
    menu = QMenu()
    qtbot.addWidget(menu)
    inner = menu.addMenu("Theme")
    inner.addAction("Light")
    menu.addAction("Text")
    add_mnemonics(menu)
    assert [action.text() for action in menu.actions()] == ["&Theme", "T&ext"]
    assert inner.actions()[0].text() == "&Light"
    buttons = QMessageBox.StandardButton
    box = QMessageBox(QMessageBox.Icon.Question, "", "", buttons.Save | buttons.Discard | buttons.Cancel)
    qtbot.addWidget(box)
    mark_buttons(box)
    letters = {QKeySequence.mnemonic(button.text()).toString() for button in box.buttons()}
    assert len(letters - {""}) == 3
