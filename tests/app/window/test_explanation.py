"""Explanation, reference and formatting in a whole window, by keys and with real workers."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.catalogue import capitalised, ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from engine.source import Span

CONTROL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
GRAMMAR = 'root ::= "a"|"b"\nlonger ::=root\n'


def open_grammar(desk, notation: str, text: str) -> None:
    desk.session.start()
    desk.document.replace(DocumentFile(grammar=GrammarPart(notation=notation, text=text), model=ModelPart("letters")))
    desk.wait(lambda: desk.session.compiling.last_good is not None)
    desk.panes.editor.edit.setFocus()
    desk.activate()


def words(desk) -> list[str]:
    page = desk.panes.editor.explanation.built
    return [] if page is None else [phrase.text for phrase in page.description.phrases]


def test_the_explanation_follows_the_text(desk) -> None:
    open_grammar(desk, "regex", "[a-z]+")
    edit = desk.panes.editor.edit
    QTest.keyClick(edit, Qt.Key.Key_E, CONTROL | SHIFT)
    desk.wait(lambda: words(desk) == ["Once or more: one of `a` to `z`"])
    page = desk.panes.editor.explanation.get()
    QTest.keyClick(edit, Qt.Key.Key_End)
    QTest.keyClicks(edit, ":")
    desk.wait(lambda: words(desk) == ["Once or more: one of `a` to `z`", "The text `:`"])
    QTest.keyClicks(edit, "(")
    QTest.keyClick(edit, Qt.Key.Key_Delete)  # the bracket that closes it
    desk.wait(lambda: page.delegate.is_stale)
    assert len(words(desk)) == 2
    QTest.keyClicks(edit, ")")
    desk.wait(lambda: words(desk)[2:] == [f"Group 1: {ui_text('explanation.text.empty')}"])
    assert not page.delegate.is_stale
    QTest.keyClick(edit, Qt.Key.Key_E, CONTROL | SHIFT)
    assert desk.panes.editor.pages.current is None
    QTest.keyClicks(edit, "x")
    desk.wait(lambda: desk.session.compiling.last_good.request.text.endswith("x"))
    assert len(words(desk)) == 3  # nobody looks, so nothing was asked
    QTest.keyClick(edit, Qt.Key.Key_E, CONTROL | SHIFT)
    desk.wait(lambda: words(desk)[-1] == "The text `x`")


def test_another_document_has_its_own_words(desk) -> None:
    open_grammar(desk, "regex", "a")
    desk.panes.editor.toggle_explanation()
    desk.wait(lambda: words(desk) == ["The text `a`"])
    open_grammar(desk, "gbnf", 'root ::= "b"')
    desk.wait(
        lambda: words(desk) == [capitalised(ui_text("explanation.rule.start", name="`root`", body="the text `b`"))]
    )


def test_the_reference_follows_the_notation(desk) -> None:
    open_grammar(desk, "regex", "a")
    QTest.keyClick(desk.panes.editor.edit, Qt.Key.Key_K, CONTROL | SHIFT)
    page = desk.panes.editor.reference.get()
    desk.wait(page.field.hasFocus)
    assert page.tree.model().index(0, 0).data() == "Characters"
    desk.window.notation_menu.choose("GBNF")
    desk.wait(lambda: page.tree.model().index(0, 0).data() == "Rules")
    QTest.keyClicks(page.field, "comment")
    QTest.keyClick(page.field, Qt.Key.Key_Return)
    assert "# " in desk.document.content.grammar.text


def test_formatting_is_one_step_and_keeps_the_cursor(desk) -> None:
    open_grammar(desk, "gbnf", GRAMMAR)
    edit = desk.panes.editor.edit
    place = GRAMMAR.index('"b"') + 1
    edit.select(Span(place, place))
    QTest.keyClick(edit, Qt.Key.Key_F, SHIFT | ALT)
    formatted = 'root   ::= "a" | "b"\nlonger ::= root\n'
    desk.wait(lambda: edit.text() == formatted)
    assert edit.caret == formatted.index('"b"') + 1
    assert desk.document.content.grammar.text == formatted
    edit.undo()
    assert edit.text() == GRAMMAR


@pytest.fixture
def said(desk, monkeypatch) -> list[str]:
    """What the editor said at the cursor: the tool tip itself may be gone before anybody looks."""
    texts: list[str] = []
    monkeypatch.setattr(desk.panes.editor.edit, "show_tip", texts.append)
    return texts


def test_what_is_broken_is_not_formatted_and_it_says_why(desk, said) -> None:
    open_grammar(desk, "gbnf", GRAMMAR)
    edit = desk.panes.editor.edit
    QTest.keyClick(edit, Qt.Key.Key_Home)
    QTest.keyClicks(edit, "(")
    desk.window.commands["edit.format"].trigger()
    desk.wait(lambda: any(text.startswith("Correct it first: line 1, column 1") for text in said))
    assert edit.text() == "(" + GRAMMAR


def test_a_text_that_has_changed_meanwhile_is_left_alone(desk, said) -> None:
    open_grammar(desk, "gbnf", GRAMMAR)
    edit = desk.panes.editor.edit
    desk.window.commands["edit.format"].trigger()
    QTest.keyClicks(edit, "x")
    desk.wait(lambda: ui_text("editor.text.changed_since") in said)
    assert edit.text().count("x") == 1
    assert "  " not in edit.text()
