"""Typing filters, the arrow keys move through what is left, Return takes it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QVBoxLayout

from app.widgets.filter_dialog import FilterDialog

WORDS = [f"{first}{second}" for first in "abcde" for second in "0123456789"]


class Words(FilterDialog):
    def __init__(self) -> None:
        self.list = QListWidget()
        super().__init__("Words", self.list, "Filter the words", field_name="Word")
        self.list.addItems(WORDS)
        layout = QVBoxLayout(self)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        self.resize(200, 200)
        self.apply_filter("")

    def apply_filter(self, text: str) -> None:
        for row, word in enumerate(WORDS):
            self.list.setRowHidden(row, text not in word)
        shown = [row for row, word in enumerate(WORDS) if text in word]
        self.list.setCurrentRow(shown[0] if shown else -1)

    @property
    def word(self) -> str:
        return self.list.currentItem().text()


@pytest.fixture
def words(qtbot):
    dialog = Words()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    return dialog


def test_the_field_says_its_name_and_comes_first(words, qtbot):
    assert words.field.accessibleName() == "Word"
    qtbot.keyClick(words.field, Qt.Key.Key_Tab)
    assert words.list.hasFocus()


def test_the_arrow_keys_skip_what_is_filtered_out_and_go_around_the_end(words, qtbot):
    qtbot.keyClicks(words.field, "3")
    seen = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down):
        qtbot.keyClick(words.field, key)
        seen.append(words.word)
    assert seen == ["b3", "c3", "b3", "a3", "e3", "a3"]
    assert words.field.text() == "3"


def test_a_page_further_stops_at_the_end(words, qtbot):
    qtbot.keyClick(words.field, Qt.Key.Key_PageDown)
    assert 1 < WORDS.index(words.word) < 20
    for _ in range(30):
        qtbot.keyClick(words.field, Qt.Key.Key_PageDown)
    assert words.word == "e9"
    for _ in range(30):
        qtbot.keyClick(words.field, Qt.Key.Key_PageUp)
    assert words.word == "a0"


def test_nothing_is_selected_where_nothing_is_left(words, qtbot):
    qtbot.keyClicks(words.field, "zebra")
    qtbot.keyClick(words.field, Qt.Key.Key_Down)
    assert words.list.currentItem() is None


def test_return_accepts_once_and_escape_rejects(words, qtbot):
    ended = []
    words.finished.connect(ended.append)
    qtbot.keyClick(words.field, Qt.Key.Key_Return)
    words.show()
    qtbot.keyClick(words.field, Qt.Key.Key_Escape)
    assert ended == [int(Words.DialogCode.Accepted), int(Words.DialogCode.Rejected)]
