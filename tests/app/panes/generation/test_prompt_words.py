"""The page that shows which words of the prompt make the model want a token."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app import theme
from app.panes.generation.prompt_words import PromptWordsPage
from app.workers.protocol import Progress
from app.workers.requests.scoring import AttributionAnswer
from engine.decoding.values import AttributedWord

WORDS = (
    AttributedWord(0, 0, "Reply ", 0.25, 0.5),
    AttributedWord(0, 6, "as ", -1.5, None),
    AttributedWord(0, 9, "JSON", 3.125, 2.0),
    AttributedWord(1, 0, "Now", None, None),
)


@pytest.fixture
def page(qtbot):
    page = PromptWordsPage()
    qtbot.addWidget(page)
    page.resize(640, 200)
    page.show()
    return page


def cells(page, row):
    return [page.table.item(row, column).text() for column in range(page.table.columnCount())]


def test_words_are_coloured_and_listed_by_their_changes(page):
    page.begin()
    assert page.cancel.isVisible()
    page.show_answer(Progress("", 3, 4))
    assert (page.bar.value(), page.bar.maximum()) == (3, 4)
    page.show_answer(AttributionAnswer("{", 0, WORDS))
    assert page.cancel.isVisible()
    page.show_answer(AttributionAnswer("{", 0, WORDS, done=True))
    assert not page.cancel.isVisible()
    assert page.text.toPlainText() == "Reply as JSON\nNow"
    assert [cells(page, row)[:2] for row in range(3)] == [["JSON", "+3.125"], ["Reply", "+0.250"], ["as", "−1.500"]]
    assert cells(page, 2)[2] == "–"
    marked = {one.cursor.selectedText(): one.format.background().color() for one in page.text.extraSelections()}
    assert set(marked) == {"Reply", "as", "JSON"}
    panel = theme.colour(theme.Role.PANEL)
    assert len({colour.name() for colour in (*marked.values(), panel)}) == 4


def test_a_row_marks_its_word_and_a_position_has_its_numbers(page):
    page.show_answer(AttributionAnswer("{", 2, WORDS, done=True))
    centre = page.table.visualItemRect(page.table.item(0, 0)).center()
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    underlined = [one.cursor.selectedText() for one in page.text.extraSelections() if one.format.fontUnderline()]
    assert underlined == ["JSON"]
    assert "+3.125" in page.tip_of(10)
    assert "+2.000" in page.tip_of(10)
    assert page.tip_of(15) == ""


def test_the_button_cancels_and_what_was_computed_stays(qtbot, page):
    page.begin()
    page.show_answer(AttributionAnswer("{", 0, WORDS))
    with qtbot.waitSignal(page.cancelled):
        QTest.mouseClick(page.cancel, Qt.MouseButton.LeftButton)
    page.stop("Cancelled.")
    assert not page.bar.isVisible()
    assert page.table.rowCount() == 3
