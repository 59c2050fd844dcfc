"""The editor's commands by their keys, in a whole window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from engine.source import Span

GRAMMAR = 'root ::= "a"'
CONTROL = Qt.KeyboardModifier.ControlModifier


def open_gbnf(desk, text: str) -> None:
    desk.window.begin(None)
    desk.wait(lambda: not desk.session.step_refusal)
    desk.window.notation_menu.choose("GBNF")
    edit = desk.panes.editor.edit
    edit.setFocus()
    edit.setPlainText(text)
    desk.activate()


def test_a_problem_is_repaired_by_its_key(desk) -> None:
    open_gbnf(desk, 'root = "a"')
    edit, problems = desk.panes.editor.edit, desk.panes.problems
    desk.wait(lambda: any(f.code == "gbnf-no-definition" for f in edit.current_diagnostics))
    edit.select(Span(5, 5))
    QTest.keyClick(edit, Qt.Key.Key_Period, CONTROL)
    assert edit.text() == GRAMMAR
    desk.wait(lambda: problems.is_empty)
    assert desk.document.content.grammar.text == GRAMMAR


def test_a_problem_is_repaired_from_its_row(desk) -> None:
    open_gbnf(desk, 'root = "a"')
    problems = desk.panes.problems
    desk.wait(lambda: not problems.is_empty and problems.table.isVisible())
    row = next(r for r in range(problems.model.rowCount()) if problems.model.fixes(r))
    problems.table.setFocus()
    problems.table.setCurrentIndex(problems.model.index(row, 2))
    QTest.keyClick(problems.table, Qt.Key.Key_Period, CONTROL)
    desk.wait(lambda: "::=" in desk.panes.editor.text())


def test_every_key_does_what_its_menu_says(desk) -> None:
    open_gbnf(desk, 'root ::= item\nitem ::= "a"')
    editor = desk.panes.editor
    edit = editor.edit
    edit.select(Span(10, 10))
    QTest.keyClick(edit, Qt.Key.Key_F12)
    assert edit.selection == Span(14, 18)
    edit.select(Span(10, 10))
    QTest.keyClick(edit, Qt.Key.Key_F2)
    assert editor.symbols.box.isVisible()
    QTest.keyClick(editor.symbols.box.field, Qt.Key.Key_Escape)
    assert edit.hasFocus()
    QTest.keyClick(edit, Qt.Key.Key_H, CONTROL)
    assert editor.find_replace.replacement.isVisible()
    QTest.keyClicks(editor.find_bar.field, "item")
    QTest.keyClick(editor.find_bar.field, Qt.Key.Key_F3)
    assert edit.selection == Span(9, 13)
    QTest.keyClick(editor.find_bar.field, Qt.Key.Key_Escape)
    assert editor.find_bar.isHidden()
    edit.select(Span(9, 9))
    QTest.keyClick(edit, Qt.Key.Key_Space, CONTROL)
    assert [p.label for p in editor.completer.proposals] == ["root", "item"]
    QTest.keyClick(editor.completer.list, Qt.Key.Key_Escape)
    desk.window.commands["edit.comment"].trigger()
    assert edit.text().startswith("# root")


def test_what_has_a_key_has_a_menu(desk) -> None:
    own = {action.objectName() for action in desk.panes.editor.more_button.menu().actions()}
    names = "complete fix definition references rename comment find replace".split()
    assert {f"edit.{name}" for name in names} <= own


def test_the_next_problem_takes_the_cursor_and_selects_nothing(desk):
    """What is typed next is inserted and replaces nothing."""
    desk.open("a+b")
    edit = desk.panes.editor.edit
    edit.setFocus()
    edit.selectAll()
    desk.qtbot.keyClicks(edit, "x[ab")
    desk.qtbot.keyClick(edit, Qt.Key.Key_Delete)  # the bracket that closes it
    desk.wait(lambda: not desk.panes.problems.is_empty)
    desk.wait(lambda: bool(edit.current_diagnostics))
    desk.qtbot.keyClick(edit, Qt.Key.Key_F8)
    assert edit.hasFocus()
    assert edit.selection == Span(1, 1)
    desk.qtbot.keyClicks(edit, "y")
    assert edit.text() == "xy[ab"
