"""Choosing another notation in a whole window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from app.document import DocumentFile, GrammarPart, ModelPart


def open_grammar(desk, notation: str, text: str) -> None:
    desk.session.start()
    desk.document.replace(DocumentFile(grammar=GrammarPart(notation, text), model=ModelPart("letters")))
    desk.wait(lambda: desk.session.compiling.good is not None and not desk.session.step_refusal)


def choose(desk, name: str) -> None:
    menu = desk.window.toolbar.notation_menu
    next(action for action in menu.actions() if action.text() == name).trigger()


def answer(desk, text: str) -> None:
    box = desk.window.findChild(QMessageBox, "reading")
    button = next(button for button in box.buttons() if button.text().replace("&", "") == text)
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_an_untouched_example_gives_way_to_one_of_the_other_notation(desk):
    desk.open("a+b")
    choose(desk, "GBNF")
    assert desk.document.content.grammar.notation == "gbnf"
    assert "::=" in desk.panes.editor.text()
    assert desk.window.toolbar.notation_button.text() == "GBNF ▾"


def test_an_empty_text_is_only_read_another_way(desk):
    desk.open("")
    choose(desk, "JSON Schema")
    assert desk.document.content.grammar == GrammarPart("json_schema", "")


def test_edited_text_can_be_kept(desk):
    desk.open("a+b")
    desk.document.set_text('root ::= "ab"')
    choose(desk, "GBNF")
    assert desk.document.content.grammar.notation == "regex"
    answer(desk, "Keep the text")
    assert desk.document.content.grammar.notation == "gbnf"
    desk.wait(lambda: desk.session.compiling.good.request.notation == "gbnf")
    assert desk.session.compiling.good.dfa.accepts(b"ab")


def test_edited_text_can_be_left_or_not_touched_at_all(desk, monkeypatch):
    desk.open("a+b")
    desk.document.set_text("a+c")
    choose(desk, "JSON Schema")
    answer(desk, "Cancel")
    assert desk.document.content.grammar == GrammarPart("regex", "a+c")
    checked = [action.text() for action in desk.window.toolbar.notation_menu.actions() if action.isChecked()]
    assert checked == ["Regex · Python"]
    monkeypatch.setattr(QMessageBox, "question", lambda *_: QMessageBox.StandardButton.Discard)
    choose(desk, "JSON Schema")
    answer(desk, "New document")
    assert desk.document.content.grammar.notation == "json_schema"
    assert not desk.document.is_modified


def test_the_dialect_changes_at_once(desk):
    desk.open("a+b")
    desk.document.set_text("a+c")
    choose(desk, "Regex · ECMAScript")
    assert desk.document.content.grammar == GrammarPart("regex", "a+c", "ecma")


def test_white_space_belongs_to_a_schema(desk):
    desk.open("a+b")
    menu = desk.window.notation_menu.whitespace_menu
    assert not menu.isEnabled()
    open_grammar(desk, "json_schema", '{"enum": [[1, 2]]}')
    assert menu.isEnabled()
    next(action for action in menu.actions() if action.text() == "Compact").trigger()
    assert desk.document.content.grammar.whitespace == "compact"
    desk.wait(lambda: desk.session.compiling.good.request.options.whitespace == "compact")


@pytest.mark.parametrize(
    ("notation", "text", "steps"),
    [("gbnf", 'root ::= "(" root ")" | "a"', 1), ("json_schema", '{"enum": ["ab", "ac"]}', 3)],
)
def test_what_has_no_finite_automaton_is_drawn_around_the_live_state(desk, notation, text, steps):
    open_grammar(desk, notation, text)
    assert "drawn around the live state" in desk.session.compiling.good.too_large
    for count in range(1, steps + 1):
        desk.session.decoding.step()
        desk.wait(lambda count=count: len(desk.session.decoding.view.trace.path) == count)
    desk.wait(lambda: desk.session.compiling.good.output == desk.output)
    assert desk.window._live == {desk.session.compiling.good.dfa.start}


def test_an_export_of_what_has_neither_an_automaton_nor_rules_says_why(desk):
    open_grammar(desk, "json_schema", '{"uniqueItems": true}')
    dialog = desk.window.open_export()
    desk.wait(lambda: "/uniqueItems cannot be written as a grammar" in _texts(dialog))
    dialog.reject()


@pytest.mark.parametrize(
    ("notation", "text"), [("gbnf", 'root ::= "(" root ")" | "a"'), ("json_schema", '{"items": {"$ref": "#"}}')]
)
def test_rules_are_exported_as_an_automaton_each(desk, notation, text):
    open_grammar(desk, notation, text)
    dialog = desk.window.open_export()
    desk.wait(lambda: "turnstile-rule-automata" in _texts(dialog))
    dialog.reject()


def _texts(dialog) -> str:
    from PySide6.QtWidgets import QLabel

    return dialog.preview.text.toPlainText() + " ".join(label.text() for label in dialog.findChildren(QLabel))
