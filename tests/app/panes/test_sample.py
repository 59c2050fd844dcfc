"""The pane of a sample text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from app import theme
from app.catalogue import ui_text
from app.panes.sample.pane import SamplePane
from app.workers.requests.compile import CompileRequest
from app.workers.requests.judge import JudgeSample, SampleAnswer, SampleMode, SampleVerdict
from engine.source import Span

COMPILED = CompileRequest(0, "regex", "a+b", None)
MATCH = SampleVerdict("It matches.", is_complete=True, is_prefix=True, legal=2)
BEGUN = SampleVerdict("It is incomplete.", is_complete=False, is_prefix=True, legal=1)


def fails(legal):
    return SampleVerdict("It fails.", is_complete=False, is_prefix=False, legal=legal, spans=(Span(2, 3),))


@pytest.fixture
def pane(qtbot):
    pane = SamplePane()
    qtbot.addWidget(pane)
    pane.resize(600, 240)
    pane.show()
    return pane


def answer(pane, *verdicts, **fields):
    pane.show_answer(SampleAnswer(JudgeSample(COMPILED, pane.text, pane.mode), verdicts, **fields))


def marked(pane, role):
    """Return the texts that have the background of a role."""
    return [
        one.cursor.selectedText()
        for one in pane.field.extraSelections()
        if one.format.background().color() == theme.colour(role)
    ]


def test_typing_requests_verdicts_and_stores_the_sample(qtbot, pane):
    with qtbot.waitSignals([pane.edited, pane.verdicts_wanted]):
        QTest.keyClicks(pane.field, "a")
    assert pane.text == "a"


def test_each_line_has_its_sign_and_the_first_failure_is_marked(pane):
    pane.show_text("ab\na\né😀b\nx\n")
    answer(pane, MATCH, BEGUN, fails(2), fails(0), BEGUN)
    assert [pane.field.sign_of(line) for line in range(5)] == ["match", "begins", "fails", "fails", ""]
    assert marked(pane, theme.Role.ERROR_FILL) == ["😀", "x"]
    assert pane.summary.text() == " · ".join(
        (
            ui_text("sample.summary.match", count=1),
            ui_text("sample.summary.begins", count=1),
            ui_text("sample.summary.fails", count=2),
        )
    )


def test_the_line_of_the_cursor_is_explained(qtbot, pane):
    pane.show_text("ab\nax")
    answer(pane, MATCH, fails(1))
    assert pane.verdict.text() == MATCH.sentence
    assert not pane.show_span.isVisible()
    QTest.keyClick(pane.field, Qt.Key.Key_Down)
    assert pane.verdict.text() == fails(1).sentence
    with qtbot.waitSignal(pane.span_wanted) as wanted:
        qtbot.mouseClick(pane.show_span, Qt.MouseButton.LeftButton)
    assert wanted.args == [Span(2, 3)]
    with qtbot.waitSignal(pane.test_wanted) as wanted:
        qtbot.mouseClick(pane.add_test, Qt.MouseButton.LeftButton)
    assert wanted.args == ["ax", False]


def test_a_click_on_a_failure_explains_it(qtbot, pane):
    pane.show_text("ab\nax")
    answer(pane, MATCH, fails(1))
    cursor = QTextCursor(pane.field.document().findBlockByNumber(1))
    cursor.movePosition(QTextCursor.MoveOperation.Right)
    qtbot.mouseClick(pane.field.viewport(), Qt.MouseButton.LeftButton, pos=pane.field.cursorRect(cursor).center())
    assert pane.verdict.text() == fails(1).sentence


def test_the_whole_can_be_one_text(qtbot, pane):
    pane.show_text("a\nb")
    with qtbot.waitSignal(pane.verdicts_wanted):
        choose(pane, SampleMode.WHOLE)
    answer(pane, fails(1))
    assert marked(pane, theme.Role.ERROR_FILL) == ["\u2029"]
    QTest.keyClick(pane.field, Qt.Key.Key_Down)
    assert pane.verdict.text() == fails(1).sentence


def test_matches_within_the_text_are_marked_in_turns(pane):
    pane.show_text("é ab😀aab ab")
    choose(pane, SampleMode.SEARCH)
    answer(pane, matches=((3, 5), (9, 12), (13, 15)), searched=10)
    assert marked(pane, theme.Role.ALLOWED_FILL) == ["ab", "ab"]
    assert marked(pane, theme.Role.HINT_FILL) == ["aab"]
    assert ui_text("sample.summary.matches", count=3) in pane.summary.text()
    assert ui_text("sample.summary.fragment.searched", done=10, total=15) in pane.summary.text()


def test_the_answer_to_an_older_text_is_ignored(pane):
    pane.show_text("ab")
    older = SampleAnswer(JudgeSample(COMPILED, "a", SampleMode.LINES), (BEGUN,))
    pane.show_answer(older)
    assert pane.field.sign_of(0) == ""
    assert pane.verdict.text() == ""


def test_what_stops_the_verdicts_is_said(pane):
    pane.show_text("ab")
    answer(pane, error="No verdict: it is broken")
    assert pane.summary.text() == "No verdict: it is broken"
    pane.set_stale("Older text")
    assert pane.summary.text() == "Older text"


def choose(pane, mode):
    pane.modes.setCurrentIndex(pane.modes.findData(mode))
    pane.modes.activated.emit(pane.modes.currentIndex())
