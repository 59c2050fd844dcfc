"""Fixes, definitions, references, renaming, comments and the find bar, with real keys and a real pointer."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.display_text import unmarked
from app.panes.editor.find_replace import occurrences
from app.panes.editor.pane import EditorPane
from engine import GrammarError, compile_grammar
from engine.source import Span
from tests.app.panes.editor import marked_texts

GRAMMAR = 'root ::= item ("," item)*\nitem ::= [a-z]\n'


def write(pane: EditorPane, notation: str, text: str) -> None:
    """Show a text with the cursor at its `¦`, and what is wrong with it."""
    text = marked_texts.write(pane, notation, text)
    try:
        pane.show_diagnostics(compile_grammar(notation, text).diagnostics)
    except GrammarError as error:
        pane.show_diagnostics(error.diagnostics)


def fix_title(key: str, /, **fields: str) -> str:
    return unmarked(ui_text(f"fixes.{key}", **fields))


def menu(pane: EditorPane) -> QMenu:
    return next(found for found in pane.edit.findChildren(QMenu) if found.isVisible())


# --- fixes -----------------------------------------------------------------------------------------------------------


def test_one_fix_is_done_at_once_and_undone_at_once(pane: EditorPane) -> None:
    write(pane, "gbnf", 'ro¦ot = "a"')
    pane.quick_fixes.open()
    assert pane.text() == 'root ::= "a"'
    pane.edit.undo()
    assert pane.text() == 'root = "a"'


def test_of_several_fixes_one_is_chosen_by_keys(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", "root ::= it¦m\nitem ::= [a]")
    pane.quick_fixes.open()
    shown = menu(pane)
    assert [action.text() for action in shown.actions()] == [
        fix_title("replace", new="item"),
        fix_title("rule.define", name="itm"),
    ]
    qtbot.keyClick(shown, Qt.Key.Key_Down)
    qtbot.keyClick(shown, Qt.Key.Key_Return)
    assert pane.text() == 'root ::= itm\nitem ::= [a]\nitm ::= ""\n'
    assert pane.text()[: pane.edit.caret].endswith('itm ::= "')  # to be written on


def test_the_tip_tells_the_key(pane: EditorPane) -> None:
    write(pane, "gbnf", "root ::= it¦m\nitem ::= [a]")
    assert pane.edit.tip_at(10).endswith(
        f"Ctrl+.: {fix_title('replace', new='item')} · {fix_title('rule.define', name='itm')}"
    )


def test_findings_of_an_older_text_are_not_fixed(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", "root ::= itm¦\nitem ::= [a]")
    qtbot.keyClicks(pane.edit, "x")
    before = pane.text()
    pane.quick_fixes.open()
    assert pane.text() == before
    assert "Ctrl+." not in pane.edit.tip_at(10)


# --- names -----------------------------------------------------------------------------------------------------------


def test_a_use_leads_to_its_definition_and_back(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", GRAMMAR.replace("item", "it¦em", 1))
    pane.symbols.go_to_definition()
    assert pane.edit.selection == Span(26, 30)
    pane.symbols.go_to_definition()  # from the definition, to its uses
    shown = menu(pane)
    texts = [action.text() for action in shown.actions() if action.text()]
    assert texts[0] == "item: 2 uses"
    assert [text.split("  ")[:2] for text in texts[1:]] == [["1:10", "used"], ["1:20", "used"], ["2:1", "defined"]]
    qtbot.keyClick(shown, Qt.Key.Key_Down)
    qtbot.keyClick(shown, Qt.Key.Key_Return)
    assert pane.edit.selection == Span(19, 23)


def test_a_click_with_ctrl_goes_there(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "json_schema", '{"$defs": {"a": {}},\n"$ref": "#/$defs/a"}¦')
    place = pane.edit.point_of(pane.text().index("#/") + 1) + QPoint(2, 0)
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(pane.edit.viewport(), Qt.MouseButton.LeftButton, control, place)
    assert pane.edit.textCursor().selectedText() == '"a"'


def test_a_rule_is_renamed_in_one_step(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", GRAMMAR.replace("item", "it¦em", 1))
    pane.symbols.begin_rename()
    field = pane.symbols.box.field
    assert field.text() == "item"
    field.clear()
    qtbot.keyClicks(field, "root")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert pane.symbols.box.isVisible()
    assert pane.symbols.box.note_label.text() == "There is a rule “root” already"
    field.clear()
    qtbot.keyClicks(field, "letter")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert pane.text() == GRAMMAR.replace("item", "letter")
    assert not pane.symbols.box.isVisible()
    pane.edit.undo()
    assert pane.text() == GRAMMAR


def test_a_rule_takes_the_name_that_is_used_but_not_defined(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", 'root ::= castle\ncast¦el ::= "x"\n')
    pane.symbols.begin_rename()
    field = pane.symbols.box.field
    field.clear()
    qtbot.keyClicks(field, "castle")
    assert "castle" in pane.symbols.box.note_label.text()
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert pane.text() == 'root ::= castle\ncastle ::= "x"\n'


def test_escape_renames_nothing(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", GRAMMAR.replace("item", "it¦em", 1))
    pane.symbols.begin_rename()
    qtbot.keyClicks(pane.symbols.box.field, "x")
    qtbot.keyClick(pane.symbols.box.field, Qt.Key.Key_Escape)
    assert not pane.symbols.box.isVisible()
    assert pane.text() == GRAMMAR


def test_the_first_rule_keeps_its_name(pane: EditorPane) -> None:
    write(pane, "gbnf", "ro¦ot ::= [a]")
    pane.symbols.begin_rename()
    assert not pane.symbols.box.isVisible()


# --- lines and brackets ----------------------------------------------------------------------------------------------


def test_a_comment_is_toggled(pane: EditorPane) -> None:
    write(pane, "gbnf", "root ::= [a]\n¦root ::= [b]")
    pane.toggle_comment()
    assert pane.text() == "root ::= [a]\n# root ::= [b]"
    pane.toggle_comment()
    assert pane.text() == "root ::= [a]\nroot ::= [b]"
    write(pane, "json_schema", "{¦}")
    pane.toggle_comment()
    assert pane.text() == "{}"


def test_the_cursor_goes_to_the_other_bracket(pane: EditorPane) -> None:
    write(pane, "regex", "¦(a[)]b)")
    pane.go_to_bracket()
    assert pane.edit.caret == 6
    pane.go_to_bracket()
    assert pane.edit.caret == 0


# --- find and replace ------------------------------------------------------------------------------------------------


def test_places_are_found_around_the_end(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", GRAMMAR + "¦")
    bar = pane.find_bar
    pane.find_replace.open()
    qtbot.keyClicks(bar.field, "ITEM")
    assert bar.result_label.text() == "1 of 3"
    for expected in ("2 of 3", "3 of 3", "1 of 3"):
        qtbot.keyClick(bar.field, Qt.Key.Key_Return)
        assert bar.result_label.text() == expected
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.result_label.text() == "3 of 3"
    qtbot.mouseClick(pane.find_replace.case_button, Qt.MouseButton.LeftButton)
    assert bar.result_label.text() == ui_text("common.find.nothing")
    assert not bar.next_button.isEnabled()
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert pane.edit.hasFocus()


def test_one_is_replaced_then_all_in_one_step(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", "¦" + GRAMMAR)
    bar, find = pane.find_bar, pane.find_replace
    find.open(replaces=True)
    qtbot.keyClicks(bar.field, "item")
    qtbot.keyClicks(find.replacement, "it")
    qtbot.keyClick(find.replacement, Qt.Key.Key_Return)
    assert pane.text() == GRAMMAR.replace("item", "it", 1)
    qtbot.mouseClick(find.all_button, Qt.MouseButton.LeftButton)
    assert pane.text() == GRAMMAR.replace("item", "it")
    assert bar.result_label.text() == ui_text("editor.find.replaced", count=2)
    pane.edit.undo()
    assert pane.text() == GRAMMAR.replace("item", "it", 1)


def test_what_is_selected_is_looked_for(pane: EditorPane) -> None:
    write(pane, "gbnf", GRAMMAR + "¦")
    pane.edit.select(Span(9, 13))
    pane.find_replace.open()
    assert pane.find_bar.field.text() == "item"
    assert pane.find_bar.result_label.text() == "1 of 3"


def test_whole_words_know_a_rules_name() -> None:
    assert occurrences("a a-b ab A", "a", match_case=True, whole_words=True) == (Span(0, 1),)
    assert len(occurrences("a a-b ab A", "a", match_case=False, whole_words=False)) == 4
    assert occurrences("a", "", match_case=True, whole_words=False) == ()


def test_a_regular_expression_is_searched_in_code_points() -> None:
    found = occurrences("😀 item-1 item-22", r"\w+-\d+|x*", match_case=True, whole_words=False, is_regex=True)
    assert found == (Span(2, 8), Span(9, 16))
    words = occurrences("ab abc", "a.", match_case=True, whole_words=True, is_regex=True)
    assert words == (Span(0, 2),)


@pytest.mark.parametrize(
    ("pattern", "message"), [("(a", "missing closing parenthesis"), ("(a+)+$", ui_text("editor.find.too_slow"))]
)
def test_a_search_that_cannot_be_carried_out_says_why(
    pane: EditorPane, qtbot: QtBot, pattern: str, message: str
) -> None:
    write(pane, "gbnf", "a" * 40 + "b¦")
    find = pane.find_replace
    find.open()
    qtbot.mouseClick(find.regex_button, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(find.bar.field, pattern)
    assert message in find.bar.result_label.text()
    find.bar.field.clear()
    qtbot.keyClicks(find.bar.field, "b$")
    assert find.bar.result_label.text() == "1 of 1"


def test_tab_goes_from_the_text_to_find_to_its_replacement(pane: EditorPane, qtbot: QtBot) -> None:
    pane.find_replace.open(replaces=True)
    find = pane.find_replace
    for widget in (find.replacement, find.case_button):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        if widget is find.case_button:
            for _ in range(2):  # past the two buttons that replace, where they are enabled
                if QApplication.focusWidget() is not widget:
                    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is widget
