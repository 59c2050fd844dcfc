"""Indentation, and brackets and quotes that close themselves, with real keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.panes.editor.pane import EditorPane
from engine.source import Span
from tests.app.panes.editor.marked_texts import write


def shown(pane: EditorPane) -> str:
    """The text with a mark at the cursor."""
    text, caret = pane.text(), pane.edit.caret
    return f"{text[:caret]}¦{text[caret:]}"


@pytest.mark.parametrize(
    ("notation", "before", "typed", "after"),
    [
        ("json_schema", "¦", "{", "{¦}"),
        ("json_schema", "{¦}", '"', '{"¦"}'),
        ("json_schema", '{"a¦"}', "{", '{"a{¦"}'),  # within a string
        ("json_schema", '{"a\\¦"}', '"', '{"a\\"¦"}'),  # escaped
        ("json_schema", "[¦1]", "[", "[[¦1]"),  # before a value, which it is to hold
        ("json_schema", "{¦}", '"a"', '{"a"¦}'),  # typed over
        ("json_schema", "¦", '{"a": [1]}', '{"a": [1]}¦'),
        ("gbnf", "root ::= ¦", '("a" | [b])', 'root ::= ("a" | [b])¦'),
        ("gbnf", "root ::= ¦", '"(', 'root ::= "(¦"'),
        ("gbnf", "root ::= [a¦]", "(", "root ::= [a(¦]"),
        ("gbnf", "# it¦", "(", "# it(¦"),
        ("regex", "¦", "(a[b]", "(a[b]¦)"),
        ("regex", "\\¦", "(", "\\(¦"),
        ("regex", "¦", '"', '"¦'),  # is no quote there
    ],
)
def test_pairs(pane: EditorPane, notation: str, before: str, typed: str, after: str) -> None:
    write(pane, notation, before)
    QTest.keyClicks(pane.edit, typed)
    assert shown(pane) == after


def test_a_pair_is_one_step_of_undo_and_goes_with_one_backspace(pane: EditorPane) -> None:
    write(pane, "gbnf", "root ::= ¦")
    QTest.keyClicks(pane.edit, "(")
    pane.edit.undo()
    assert pane.text() == "root ::= "
    pane.edit.redo()
    assert pane.text() == "root ::= ()"
    write(pane, "gbnf", "root ::= ¦")
    QTest.keyClicks(pane.edit, "(")
    QTest.keyClick(pane.edit, Qt.Key.Key_Backspace)
    assert shown(pane) == "root ::= ¦"


def test_a_closing_bracket_that_was_there_before_is_not_typed_over(pane: EditorPane) -> None:
    write(pane, "regex", "(a¦)")
    QTest.keyClicks(pane.edit, ")")
    assert shown(pane) == "(a)¦)"
    write(pane, "regex", "(¦)")
    QTest.keyClick(pane.edit, Qt.Key.Key_Backspace)
    assert shown(pane) == "¦)"


def test_a_selection_is_put_between_a_pair_but_all_of_a_text_is_replaced(pane: EditorPane) -> None:
    write(pane, "regex", "¦ab|c")
    pane.edit.select(Span(0, 2))
    QTest.keyClicks(pane.edit, "(")
    assert pane.text() == "(ab)|c"
    assert pane.edit.selection == Span(1, 3)
    pane.edit.selectAll()
    QTest.keyClicks(pane.edit, "[")
    assert pane.text() == "["


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("{\n¦}", Qt.Key.Key_Tab, "{\n  ¦}"),
        ("{\n ¦}", Qt.Key.Key_Tab, "{\n  ¦}"),
        ("{\n    ¦}", Qt.Key.Key_Backtab, "{\n  ¦}"),
        ("{\n¦}", Qt.Key.Key_Backtab, "{\n¦}"),
        ("{¦}", Qt.Key.Key_Return, "{\n  ¦\n}"),
        ('  "a": [¦]', Qt.Key.Key_Return, '  "a": [\n    ¦\n  ]'),
        ('  "a": 1,¦', Qt.Key.Key_Return, '  "a": 1,\n  ¦'),
        ('  "{¦"', Qt.Key.Key_Return, '  "{\n  ¦"'),
    ],
)
def test_indentation(pane: EditorPane, before: str, key: Qt.Key, after: str) -> None:
    write(pane, "json_schema", before)
    text = pane.text()
    QTest.keyClick(pane.edit, key)
    assert shown(pane) == after
    if pane.text() != text:
        pane.edit.undo()
        assert pane.text() == text


def test_selected_lines_are_indented_together(pane: EditorPane) -> None:
    write(pane, "gbnf", '¦root ::= a |\nb\n\na ::= "a"')
    pane.edit.select(Span(0, len("root ::= a |\nb\n\n")))
    QTest.keyClick(pane.edit, Qt.Key.Key_Tab)
    assert pane.text() == '  root ::= a |\n  b\n\na ::= "a"'
    QTest.keyClick(pane.edit, Qt.Key.Key_Backtab)
    assert pane.text() == 'root ::= a |\nb\n\na ::= "a"'
    pane.edit.undo()
    pane.edit.undo()
    assert pane.text() == 'root ::= a |\nb\n\na ::= "a"'


def test_tab_leaves_the_editor_after_esc(qtbot: QtBot) -> None:
    both = QWidget()
    qtbot.addWidget(both)
    layout = QVBoxLayout(both)
    pane, other = EditorPane(), QLineEdit()
    layout.addWidget(pane)
    layout.addWidget(other)
    both.show()
    qtbot.waitExposed(both)
    write(pane, "gbnf", "root ::= ¦")
    both.activateWindow()
    pane.edit.setFocus()
    qtbot.waitUntil(pane.edit.hasFocus)
    QTest.keyClick(pane.edit, Qt.Key.Key_Escape)
    QTest.keyClicks(pane.edit, "a")
    QTest.keyClick(pane.edit, Qt.Key.Key_Tab)
    assert pane.edit.hasFocus()
    assert pane.text() == "root ::= a  "
    QTest.keyClick(pane.edit, Qt.Key.Key_Escape)
    QTest.keyClick(pane.edit, Qt.Key.Key_Tab)
    assert not pane.edit.hasFocus()
