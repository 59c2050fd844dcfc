"""The refactorings of the grammar, in a whole window: by menu and key, with their proof, as one undo step."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.dialogs.refactor_dialog import RefactorDialog
from engine.refactoring import REFACTORINGS
from engine.source import Span

LEFT = Qt.MouseButton.LeftButton
_RULES = 'root ::= "(" ("a" | "b")* ")"\n'


def chosen(desk, name: str) -> RefactorDialog:
    """Choose a refactoring in the menu; return its dialog once the comparison has ended."""
    desk.window.commands[f"edit.{name}"].trigger()
    dialog = desk.window.findChildren(RefactorDialog)[-1]
    desk.wait(lambda: bool(dialog.verdict.text()) and not dialog.is_comparing)
    return dialog


def test_a_rule_is_extracted_under_a_typed_name_and_undone_at_once(desk):
    desk.open(_RULES, notation="gbnf")
    edit = desk.panes.editor.edit
    enabled = {
        name for name in REFACTORINGS.names if desk.window.commands[f"edit.{name.replace('-', '_')}"].isEnabled()
    }
    assert enabled == {"inline-rule", "extract-rule", "factor-prefixes", "remove-left-recursion"}
    edit.select(Span(15, 15))
    edit.setFocus()
    desk.activate()
    QTest.keyClick(edit, Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(edit, Qt.Key.Key_E)
    dialog = desk.window.findChild(RefactorDialog)
    desk.wait(lambda: bool(dialog.name.text()) and not dialog.is_comparing)
    assert dialog.verdict.text() == ui_text("refactoring.proof.automata")
    dialog.name.selectAll()
    QTest.keyClicks(dialog.name, "letters")
    desk.wait(lambda: "letters ::=" in dialog.difference.toPlainText() and not dialog.is_comparing)
    desk.qtbot.mouseClick(dialog.accept_button, LEFT)
    after = 'root ::= "(" letters* ")"\nletters ::= "a" | "b"\n'
    assert edit.text() == desk.document.content.grammar.text == after
    desk.window.commands["edit.undo"].trigger()
    assert edit.text() == _RULES
    # What cannot be done is said, and nothing can be applied.
    dialog = chosen(desk, "remove_left_recursion")
    assert not dialog.accept_button.isEnabled()
    assert dialog.difference.toPlainText() == ""
    dialog.reject()
    assert edit.text() == _RULES


def test_a_difference_is_shown_and_applied_only_on_request(desk):
    pattern = "(?>a|ab)c|(?>a|ab)d"
    desk.open(pattern)
    desk.panes.editor.edit.select(Span(3, 3))
    dialog = chosen(desk, "factor_prefixes")
    assert dialog.verdict.text() == ui_text("refactoring.proof.different")
    _, added = dialog.rows
    assert added.text_label.text() == "abc"
    assert dialog.accept_button.text() == ui_text("dialogs.refactor.apply_anyway")
    dialog.reject()
    assert desk.panes.editor.edit.text() == pattern
