"""The tests pane by itself, with real verdicts; driven by mouse and keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app import theme
from app.catalogue import ui_text
from app.panes.test_strings.model import TextsColumn, TextsModel, as_marks, expectation_text, from_marks, verdict_text
from app.panes.test_strings.pane import StringTestsPane, lines_of
from app.panes.test_strings.texts_table import Mark, pieces_of
from app.workers.requests.judge import JudgeAnswer, SuggestAnswer
from engine.compile import compile_grammar
from engine.diagnosis.test_strings.coverage import coverage, uses_of
from engine.diagnosis.test_strings.values import Suggestion, SuggestionKind
from engine.diagnosis.verdicts.replay import replay_text
from engine.document.content import ExpectedText
from engine.source import SourceText

GRAMMAR = 'root ::= year "-" month\nyear ::= [0-9]{4}\nmonth ::= "0" [1-9] | "1" [0-2]\n'
TEXTS = (ExpectedText("2024-01"), ExpectedText("2024-13"), ExpectedText("2024", accepts=False), ExpectedText("x"))


@pytest.fixture(scope="module")
def grammar():
    return compile_grammar("gbnf", GRAMMAR)


@pytest.fixture
def pane(qtbot, qapp, grammar):
    """The pane with four tests, of which two fail; edits are judged at once."""
    theme.apply(qapp, "light")
    pane = StringTestsPane()
    qtbot.addWidget(pane)
    pane.resize(1200, 300)
    pane.edited.connect(lambda texts: judge(pane, grammar, texts))
    pane.show()
    qtbot.waitExposed(pane)
    pane.show_texts(TEXTS)
    judge(pane, grammar, TEXTS)
    return pane


def judge(pane, grammar, texts):
    automata = grammar.rule_automata()
    verdicts = tuple(replay_text(grammar, one.text.encode(), advise=False) for one in texts)
    uses = [uses_of(automata, one.text.encode()) for one in texts if one.accepts]
    answer = JudgeAnswer(1, tuple(one.text for one in texts), verdicts, coverage(automata, uses))
    pane.show_answer(answer, SourceText(GRAMMAR))


def texts(pane):
    return [one.text for one in pane.model.expected]


def cell(pane, row, column):
    return pane.model.index(row, column).data()


def click(pane, row, column):
    box = pane.table.visualRect(pane.model.index(row, column))
    QTest.mouseClick(pane.table.viewport(), Qt.MouseButton.LeftButton, pos=box.center())


def key(widget, key, modifiers=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(widget, key, modifiers)


def test_the_model_is_one(qapp, qtmodeltester, grammar):
    model = TextsModel()
    model.show_texts(TEXTS)
    model.show_verdicts({"x": replay_text(grammar, b"x")})
    qtmodeltester.check(model)


def test_each_row_says_whether_it_is_as_it_should_be(pane):
    passed, failed = ui_text("test_strings.table.pass"), ui_text("test_strings.table.fail")
    assert [cell(pane, row, TextsColumn.RESULT) for row in range(4)] == [passed, failed, passed, failed]
    assert [cell(pane, row, TextsColumn.EXPECT) for row in range(4)] == [
        expectation_text(accepts=accepts) for accepts in (True, True, False, True)
    ]
    expected = ui_text("test_strings.verdict.fragment.expected", characters="0-2")
    refused = ui_text("test_strings.verdict.illegal", byte=6, reason=expected)
    assert cell(pane, 0, TextsColumn.VERDICT) == ui_text("test_strings.verdict.accepted")
    assert cell(pane, 1, TextsColumn.VERDICT).startswith(refused)
    assert cell(pane, 2, TextsColumn.VERDICT) == ui_text("test_strings.verdict.prefix_with_ending", text="-01")
    assert pane.summary.text().split("  ·  ") == [
        ui_text("test_strings.summary.pass", count=2),
        ui_text("test_strings.summary.fail", count=2),
        f"{ui_text('common.word.tests')}: {ui_text('test_strings.coverage.rules', covered=3, count=3)}",
    ]


def test_a_click_on_a_verdict_goes_to_the_rule(pane, qtbot):
    with qtbot.waitSignal(pane.span_wanted) as wanted:
        click(pane, 1, TextsColumn.VERDICT)
    span = wanted.args[0]
    assert GRAMMAR[span.start : span.end] == "[0-2]"


def test_a_click_expects_the_opposite_and_ctrl_z_takes_it_back(pane):
    click(pane, 1, TextsColumn.EXPECT)
    assert cell(pane, 1, TextsColumn.RESULT) == "Pass"
    assert not pane.model.expected[1].accepts
    key(pane.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert pane.model.expected == TEXTS
    key(pane.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert not pane.model.expected[1].accepts


def test_a_test_is_added_and_typed(pane, qtbot):
    with qtbot.waitSignal(pane.edited):
        QTest.mouseClick(pane.buttons["add"], Qt.MouseButton.LeftButton)
    line = pane.table.findChild(QLineEdit)
    QTest.keyClicks(line, "1999-12")
    key(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: texts(pane)[-1] == "1999-12")
    assert cell(pane, 4, TextsColumn.RESULT) == "Pass"


def test_a_test_is_edited_duplicated_and_removed_by_keys(pane, qtbot):
    pane.table.setFocus()
    pane.table.selectRow(1)
    key(pane.table, Qt.Key.Key_Return)
    line = pane.table.findChild(QLineEdit)
    assert line.text() == "2024-13"
    line.selectAll()
    QTest.keyClicks(line, "2024-12")
    key(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: cell(pane, 1, TextsColumn.RESULT) == "Pass")
    key(pane.table, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert texts(pane) == ["2024-01", "2024-12", "2024-12", "2024", "x"]
    key(pane.table, Qt.Key.Key_Delete)
    assert texts(pane) == ["2024-01", "2024-12", "2024", "x"]
    pane.table.selectRow(2)
    key(pane.table, Qt.Key.Key_Space)
    assert pane.model.expected[2].accepts
    for _ in range(4):
        pane.undo()
    assert pane.model.expected == TEXTS
    pane.redo()
    assert texts(pane)[1] == "2024-12"


def test_many_are_pasted(pane):
    QGuiApplication.clipboard().setText("2001-01\n\n2002-02\n")
    pane.table.setFocus()
    key(pane.table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert texts(pane)[4:] == ["2001-01", "2002-02"]
    assert lines_of('["a\\nb", ""]') == ("a\nb", "")
    assert lines_of("[1, 2]") == ("[1, 2]",)


def test_line_ends_are_typed_as_marks():
    assert as_marks("a\n\tb") == "a↵⇥b"
    assert from_marks("a↵⇥b") == "a\n\tb"


def test_the_character_that_cannot_stand_is_marked(grammar):
    found = replay_text(grammar, b"2024-13 ")
    legal, dead, beyond = Mark.LEGAL, Mark.DEAD, Mark.BEYOND
    assert pieces_of("2024-13 ", found) == (("2024-1", legal), ("3", dead), ("␣", beyond))
    umlaut = replay_text(compile_grammar("regex", "aé"), "aö".encode())
    assert pieces_of("aö", umlaut) == (("a", legal), ("ö", dead))
    assert pieces_of("2024-01", replay_text(grammar, b"2024-01")) == (("2024-01", legal),)
    assert pieces_of("in 2024-01", replay_text(grammar, b"in 2024-01")) == (("in␣", dead), ("2024-01", legal))
    assert verdict_text(replay_text(compile_grammar("regex", "a$b"), b"a")) == ui_text("test_strings.verdict.no_text")


def test_what_is_not_covered_is_listed_and_leads_to_its_place(pane, qtbot):
    entries = pane.coverage.entries
    assert pane.side.tabText(0) == ui_text("test_strings.coverage.tab_count", count=entries.count())
    shown = [entries.item(row).text() for row in range(entries.count())]
    assert any(text.startswith("month: ") for text in shown)
    with qtbot.waitSignal(pane.span_wanted):
        QTest.mouseClick(
            entries.viewport(), Qt.MouseButton.LeftButton, pos=entries.visualItemRect(entries.item(0)).center()
        )


def test_suggestions_are_added_by_a_click(pane, qtbot):
    with qtbot.waitSignal(pane.suggestions_wanted) as wanted:
        pane.suggest_button.menu().actions()[3].trigger()
    assert wanted.args == [SuggestionKind.NEAR_MISS]
    offered = tuple(Suggestion(SuggestionKind.NEAR_MISS, text, False, "wrong") for text in ("2024-0", "2024-01 "))
    pane.show_suggestions(SuggestAnswer(SuggestionKind.NEAR_MISS, offered))
    entries = pane.suggestions.entries
    assert pane.side.currentWidget() is pane.suggestions
    entries.setCurrentRow(0)
    key(entries, Qt.Key.Key_Return)
    assert pane.model.expected[-1] == ExpectedText("2024-0", accepts=False)
    assert pane.suggestions.suggestions == offered[1:]
    pane.show_suggestions(SuggestAnswer(SuggestionKind.RULE, (), ui_text("workers.judge.no_more")))
    assert pane.suggestions.sentence.text() == ui_text("workers.judge.no_more")


def test_the_empty_pane_teaches(pane):
    pane.show_texts(())
    assert pane.is_empty
    assert pane.first_button.isVisible()
    QTest.mouseClick(pane.first_button, Qt.MouseButton.LeftButton)
    assert texts(pane) == [""]
    assert pane.table.isVisible()


def test_the_next_failing_one_is_gone_to(pane, qtbot):
    with qtbot.waitSignal(pane.span_wanted):
        pane.go_to_failure()
    assert pane.table.selected_rows() == [1]
    pane.go_to_failure()
    assert pane.table.selected_rows() == [3]
    pane.go_to_failure()
    assert pane.table.selected_rows() == [1]


def test_verdicts_on_an_older_grammar_say_so(pane):
    pane.set_stale(ui_text("session.stale.errors", count=1))
    assert pane.summary.text() == ui_text("test_strings.summary.stale", reason=ui_text("session.stale.errors", count=1))
    pane.set_stale("")
    assert "pass" in pane.summary.text()


def test_everything_has_a_name_and_a_tip(pane):
    for button in (*pane.buttons.values(), pane.suggest_button, pane.first_button, pane.first_suggest):
        assert button.toolTip()
    for widget in (pane.table, pane.coverage.entries, pane.suggestions.entries):
        assert widget.accessibleName()


def test_what_is_typed_is_kept_when_another_test_is_added(pane):
    pane.add()
    QTest.keyClicks(pane.findChild(QLineEdit), "2030-07")
    pane.add()
    assert texts(pane)[-2:] == ["2030-07", ""]
    QTest.keyClicks(pane.table.indexWidget(pane.table.currentIndex()), "2031-08")
    pane.add_text("2032-09")
    assert texts(pane)[-3:] == ["2030-07", "2031-08", "2032-09"]


def test_what_is_typed_does_not_end_in_another_document(pane):
    pane.add()
    QTest.keyClicks(pane.findChild(QLineEdit), "2030-07")
    verdict_text = []
    pane.edited.connect(verdict_text.append)
    pane.show_texts((ExpectedText("another"),))
    pane.table.setFocus()
    assert texts(pane) == ["another"]
    assert verdict_text == []
