"""The explanation beside its text: the pointer both ways, clicks, keys, broken texts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.panes.editor.explanation import ExplanationPage, runs
from app.panes.editor.pane import EditorPane
from engine.notations.explanation import Description
from engine.source import Span
from tests.support.explanations import explain

TEXT = 'root ::= "[" (item | "x")* "]"\nitem ::= [a-z]\n'


@pytest.fixture
def pane(qtbot: QtBot) -> EditorPane:
    pane = EditorPane()
    qtbot.addWidget(pane)
    pane.resize(600, 600)
    pane.show()
    qtbot.waitExposed(pane)
    pane.edit.setFocus()
    write(pane, TEXT)
    return pane


def write(pane: EditorPane, text: str, notation: str = "gbnf") -> None:
    pane.set_notation(notation)
    pane.set_text(text)
    page = pane.explanation.get()
    page.show_description(explain(notation, text), text)
    pane.pages.open(pane.explanation)


def row(page: ExplanationPage, words: str) -> QModelIndex:
    (number,) = page.model.find(words)
    index = page.model.index_of(number)
    page.tree.scrollTo(index)
    return index


def move(page: ExplanationPage, qtbot: QtBot, index: QModelIndex) -> None:
    qtbot.mouseMove(page.tree.viewport(), page.tree.visualRect(index).center() - QPoint(1, 0))
    qtbot.mouseMove(page.tree.viewport(), page.tree.visualRect(index).center())


def marked(pane: EditorPane) -> list[str]:
    """What is marked in the text because it is pointed at."""
    dotted = [s for s in pane.edit.extraSelections() if s.format.underlineStyle() == s.format.UnderlineStyle.DotLine]
    return [selection.cursor.selectedText() for selection in dotted]


def current(page: ExplanationPage) -> str:
    return str(page.tree.currentIndex().data())


def test_the_pointer_on_words_marks_their_text(pane, qtbot) -> None:
    page = pane.explanation.get()
    move(page, qtbot, row(page, ui_text("explanation.times.any")))
    assert marked(pane) == ['(item | "x")*']
    move(page, qtbot, row(page, "the text `]`"))
    assert marked(pane) == ['"]"']
    QApplication.sendEvent(page.tree, QEvent(QEvent.Type.Leave))
    assert marked(pane) == []


def test_the_pointer_on_the_text_marks_its_words(pane, qtbot) -> None:
    page, edit = pane.explanation.get(), pane.edit
    qtbot.mouseMove(edit.viewport(), edit.point_of(TEXT.index("item")) + QPoint(3, 0))
    assert page.delegate.hovered_phrase == page.model.number(row(page, "the rule `item`"))
    page.tree.collapse(row(page, ui_text("explanation.times.any")))
    qtbot.mouseMove(edit.viewport(), edit.point_of(0) + QPoint(3, 0))
    qtbot.mouseMove(edit.viewport(), edit.point_of(TEXT.index("item")) + QPoint(3, 0))
    assert page.delegate.hovered_phrase == page.model.number(
        row(page, ui_text("explanation.times.any"))
        # what can be seen of it
    )
    QApplication.sendEvent(edit, QEvent(QEvent.Type.Leave))
    assert page.delegate.hovered_phrase is None


def test_the_cursor_selects_the_words_that_it_stands_in(pane, qtbot) -> None:
    page, edit = pane.explanation.get(), pane.edit
    page.set_expanded(is_open=False)
    qtbot.mouseClick(edit.viewport(), Qt.MouseButton.LeftButton, pos=edit.point_of(TEXT.index("[a-z]") + 2))
    assert current(page) == "Rule “item”: one of “a” to “z”"
    edit.select(Span(TEXT.index("|") - 2, TEXT.index("|") - 2))
    assert current(page) == "The rule “item”"
    assert page.tree.isExpanded(page.tree.currentIndex().parent())
    edit.select(Span(TEXT.index("\n"), TEXT.index("\n")))  # right behind
    assert current(page) == "The text “]”"


def test_a_click_goes_to_the_text_and_one_with_ctrl_to_the_rule(pane, qtbot) -> None:
    page, edit = pane.explanation.get(), pane.edit
    place = page.tree.visualRect(row(page, "the rule `item`")).center()
    qtbot.mouseClick(page.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert TEXT[edit.selection.start : edit.selection.end] == "item"
    assert current(page) == "The rule “item”"
    assert edit.hasFocus()
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(page.tree.viewport(), Qt.MouseButton.LeftButton, control, place)
    assert edit.selection.start == TEXT.index("\nitem") + 1
    assert current(page) == "Rule “item”: one of “a” to “z”"


def test_keys_go_through_the_tree(pane, qtbot) -> None:
    page, edit = pane.explanation.get(), pane.edit
    page.tree.setFocus()
    page.tree.setCurrentIndex(page.model.index(0, 0))
    qtbot.keyClick(page.tree, Qt.Key.Key_Down)
    assert current(page) == "The text “[”"
    assert marked(pane) == ['"["']
    qtbot.keyClick(page.tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "The text `[`"
    page.tree.setCurrentIndex(row(page, "the rule `item`"))
    qtbot.keyClick(page.tree, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert edit.selection.start == TEXT.index("\nitem") + 1
    page.tree.setFocus()
    page.tree.setCurrentIndex(row(page, "the text `x`"))
    qtbot.keyClick(page.tree, Qt.Key.Key_Return)
    assert TEXT[edit.selection.start : edit.selection.end] == '"x"'


def test_it_can_be_searched(pane, qtbot) -> None:
    page = pane.explanation.get()
    page.find_bar.field.setFocus()
    qtbot.keyClicks(page.find_bar.field, "ITEM")
    assert (current(page), page.find_bar.result_label.text()) == ("The rule “item”", "1 of 2")
    qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Return)
    assert (current(page), page.find_bar.result_label.text()) == ("Rule “item”: one of “a” to “z”", "2 of 2")
    qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Return)
    assert page.find_bar.result_label.text() == "1 of 2"
    qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert page.find_bar.result_label.text() == "2 of 2"
    qtbot.keyClicks(page.find_bar.field, "zzz")
    assert page.find_bar.result_label.text() == ui_text("common.find.nothing")
    qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Escape)
    assert (page.find_bar.field.text(), page.find_bar.result_label.text()) == ("", "")


def test_it_is_copied_as_text(pane, qtbot) -> None:
    page = pane.explanation.get()
    qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "\n".join(explain("gbnf", TEXT).lines()) + "\n"


def test_a_broken_text_keeps_the_last_words_paler_and_joins_nothing(pane, qtbot) -> None:
    page, edit = pane.explanation.get(), pane.edit
    qtbot.keyClicks(edit, "(")
    page.set_stale(ui_text("session.stale.errors", count=1))
    assert page.delegate.is_stale
    assert page.tree.isVisible()
    assert page.notice.text() == ui_text("editor.explanation.stale", reason=ui_text("session.stale.errors", count=1))
    move(page, qtbot, row(page, ui_text("explanation.times.any")))
    assert marked(pane) == []
    edit.select(Span(3, 3))
    qtbot.mouseMove(edit.viewport(), edit.point_of(TEXT.index("item")))
    assert page.delegate.hovered_phrase is None
    edit.undo()
    page.show_description(explain("gbnf", TEXT), TEXT)
    assert not page.delegate.is_stale
    assert not page.notice.isVisible()


def test_without_words_it_says_what_to_do(pane) -> None:
    page = pane.explanation.get()
    page.clear()
    assert page.empty.text() == ui_text("editor.explanation.waiting")
    page.set_stale("The grammar has 2 errors")
    assert page.empty.isVisible()
    assert page.empty.text() == ui_text("editor.explanation.none", reason="The grammar has 2 errors")
    assert not page.copy_button.isEnabled()


def test_what_was_folded_stays_folded_over_an_edit(pane, qtbot) -> None:
    page = pane.explanation.get()
    page.tree.collapse(row(page, ui_text("explanation.times.any")))
    changed = TEXT.replace("[a-z]", "[a-f]")
    pane.set_text(changed)
    page.show_description(explain("gbnf", changed), changed)
    assert not page.tree.isExpanded(row(page, ui_text("explanation.times.any")))
    assert page.tree.isExpanded(page.model.index(0, 0))
    qtbot.mouseClick(page.expand_button, Qt.MouseButton.LeftButton)
    assert page.tree.isExpanded(row(page, ui_text("explanation.times.any")))
    qtbot.mouseClick(page.collapse_button, Qt.MouseButton.LeftButton)
    assert not page.tree.isExpanded(page.model.index(0, 0))


def test_a_large_tree_opens_with_its_outer_levels_only(pane) -> None:
    page = pane.explanation.get()
    text = "root ::= " + " | ".join('("a" "b" ("c" "d" | "e"))' for _ in range(50))
    write(pane, text)
    first = page.model.index(0, 0, page.model.index(0, 0))
    assert page.tree.isExpanded(page.model.index(0, 0))
    assert not page.tree.isExpanded(first)


def test_the_pointer_enters_and_leaves_without_a_row(pane) -> None:
    page = pane.explanation.get()
    place = QPointF(2, page.tree.height() - 2)
    QApplication.sendEvent(page.tree, QEnterEvent(place, place, place))
    QApplication.sendEvent(page.tree, QEvent(QEvent.Type.Leave))
    assert marked(pane) == []


def test_right_behind_a_phrase_the_smaller_one_counts(pane) -> None:
    page = pane.explanation.get()
    schema = '{"type": "object", "minProperties": 1}'
    write(pane, schema, "json_schema")
    place = schema.index(",")
    pane.edit.select(Span(place, place))
    assert current(page) == "An object"


def test_rows_that_are_too_narrow_are_painted_to_their_end(pane, qtbot) -> None:
    page = pane.explanation.get()
    write(pane, '{"pattern": "^[A-Z][a-z]{1,20}$", "type": "string"}', "json_schema")
    for width in range(300, 600, 17):
        pane.resize(width, 600)
        assert not page.grab().isNull()


def test_what_is_left_out_is_said(pane) -> None:
    page = pane.explanation.get()
    cut = Description(explain("gbnf", TEXT).phrases, is_whole=False)
    page.show_description(cut, TEXT)
    assert page.notice.text() == ui_text("editor.explanation.cut", count=20_000)
    assert page.notice.isVisible()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("the text `ab`", (("the text ", False), ("ab", True))),
        ("`` ` `` and `b`", (("`", True), (" and ", False), ("b", True))),
        ("plain", (("plain", False),)),
        ("", ()),
    ],
)
def test_words_in_runs(words: str, expected: tuple[tuple[str, bool], ...]) -> None:
    assert runs(words) == expected
