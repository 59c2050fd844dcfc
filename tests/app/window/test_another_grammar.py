"""A text that takes the place of the whole grammar is drawn afresh; an edit leaves zoom and *Draw all* as they are."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.document import GrammarPart

LARGE = r"[ab]*a[ab]{6}"
OTHER = r"(x|y)[0-9]{0,90}\n"
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def zoomed_out(desk):
    """A grammar of which all states are drawn, as small as that takes."""
    desk.open(LARGE)
    pane = desk.panes.automaton
    desk.wait(lambda: pane.header.all_button.isVisible() and pane.navigation.drawn is not None)
    pane.header.all_button.click()
    desk.wait(lambda: is_drawn(desk) and pane.navigation.drawn.is_whole)
    pane.view.fit()
    assert pane.view.zoom < 0.4
    desk.panes.editor.edit.setFocus()
    return desk


def is_drawn(desk) -> bool:
    """Return whether the drawing is that of the text as it stands."""
    pane = desk.panes.automaton
    drawn = pane.navigation.drawn
    return drawn is not None and pane.navigation.wanted is None and drawn.automaton.revision == desk.document.revision


def paste_over(desk, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    edit = desk.panes.editor.edit
    desk.qtbot.keyClick(edit, Qt.Key.Key_A, CONTROL)
    desk.qtbot.keyClick(edit, Qt.Key.Key_V, CONTROL)


def assert_fresh(desk) -> None:
    desk.wait(lambda: is_drawn(desk))
    pane = desk.panes.automaton
    assert pane.view.is_at_home
    assert pane.view.is_readable
    assert not pane.header.all_button.isChecked()
    assert not desk.document.content.automaton.draws_all


def test_pasted_over_and_back(zoomed_out):
    desk = zoomed_out
    paste_over(desk, OTHER)
    assert_fresh(desk)
    pane = desk.panes.automaton
    pane.view.zoom_out()
    desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_Z, CONTROL)
    assert desk.document.content.grammar.text == LARGE
    assert_fresh(desk)
    pane.view.zoom_out()
    desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    assert desk.document.content.grammar.text == OTHER
    assert_fresh(desk)


def test_pasted_in_another_notation(zoomed_out):
    paste_over(zoomed_out, json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}}))
    zoomed_out.wait(lambda: zoomed_out.document.content.grammar.notation == "json_schema")
    assert_fresh(zoomed_out)


def test_typed_over(zoomed_out):
    edit = zoomed_out.panes.editor.edit
    zoomed_out.qtbot.keyClick(edit, Qt.Key.Key_A, CONTROL)
    zoomed_out.qtbot.keyClicks(edit, "ab")
    assert_fresh(zoomed_out)


def test_read_in_another_notation(zoomed_out):
    zoomed_out.panes.editor.switch(GrammarPart("gbnf"), 'root ::= "a" "b"')
    assert_fresh(zoomed_out)


def test_an_edit_and_its_undo(zoomed_out):
    desk = zoomed_out
    pane, edit = desk.panes.automaton, desk.panes.editor.edit
    zoom = pane.view.zoom
    for key, modifiers in ((Qt.Key.Key_X, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_Z, CONTROL)):
        desk.qtbot.keyClick(edit, key, modifiers)
        desk.wait(lambda: is_drawn(desk))
        assert pane.view.zoom == pytest.approx(zoom)
        assert pane.header.all_button.isChecked()


def test_a_broken_text_in_another_notation_keeps_nothing_of_the_old_one(desk):
    desk.open("[a-z]+")
    panes = desk.panes
    panes.editor.toggle_explanation()
    desk.wait(lambda: is_drawn(desk) and panes.editor.explanation.get().model.count > 0)
    panes.editor.switch(GrammarPart(notation="gbnf"), "[a-z]+")
    desk.wait(lambda: desk.session.compiling.stale_reason != "")
    assert panes.automaton.navigation.drawn is None
    assert panes.editor.explanation.get().model.count == 0
    assert "error" in panes.editor.explanation.get().empty.text()
    panes.editor.edit.undo()
    desk.wait(lambda: is_drawn(desk) and panes.editor.explanation.get().model.count > 0)
