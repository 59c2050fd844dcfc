"""Names, colours, comments and bookmarks of states in a whole window: set by keys, kept, undone, attached again."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog

from app.document import DocumentFile, GrammarPart
from app.models.states import MARKS, STATE
from app.theme import Role
from engine.document.codec import decode, encode

PATTERN = "x(a|b)(c|[d-f]y)z?"
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def edit(desk, text: str) -> None:
    before = desk.panes.automaton.navigation.levels.revision
    desk.panes.editor.edit.setPlainText(text)
    pane = desk.panes.automaton
    desk.wait(lambda: pane.navigation.levels.revision > before and pane.navigation.wanted is None)


def note_of(desk, text: bytes):
    """Return the note on the state that a text leads to."""
    return desk.panes.automaton.notes.note(("", desk.panes.automaton.navigation.levels.part.dfa.run(text)))


def name_a_state(desk) -> None:
    """Name, colour and comment on a state by keys."""
    desk.open(PATTERN)
    pane, commands, keys = desk.panes.automaton, desk.window.commands, desk.qtbot.keyClicks
    desk.wait(lambda: pane.scene.diagram is not None and pane.navigation.wanted is None)
    commands["automaton.merge"].trigger()
    state = pane.navigation.automaton.dfa.run(b"xa")
    pane.selection.select(state)
    commands["state.rename"].trigger()
    dialog = desk.window.findChild(QDialog, "stateNote")
    desk.wait(dialog.isVisible)
    keys(dialog.name, "middle")
    dialog.colour.setFocus()
    keys(dialog.colour, "B")  # the first colour with this letter
    keys(dialog.comment, "here it divides")
    desk.qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    desk.wait(lambda: pane.scene.diagram.names.get(state) == "middle")
    assert pane.scene.highlights.coloured == {Role.NOTE_BLUE: {state}}
    assert pane.scene.highlights.commented == {state}
    assert pane.model.index(state, STATE).data().startswith("middle")
    assert "here it divides" in pane.model.index(state, MARKS).data()
    assert desk.document.is_modified


def test_a_state_is_named_and_coloured_by_keys_and_found_again_after_edits(desk):
    name_a_state(desk)
    pane, commands = desk.panes.automaton, desk.window.commands
    # One step of undo, in the automaton.
    desk.activate()
    pane.view.setFocus()
    desk.wait(pane.view.hasFocus)
    desk.qtbot.keyClick(pane.view, Qt.Key.Key_Z, CONTROL)
    assert desk.document.content.state_notes == ()
    desk.qtbot.keyClick(pane.view, Qt.Key.Key_Z, CONTROL | SHIFT)
    (note,) = desk.document.content.state_notes
    assert (note.name, note.colour, note.comment) == ("middle", "blue", "here it divides")
    # Text before it, and another alternative: the place is the same, the number is not.
    edit(desk, "[0-9]{3}w" + PATTERN)
    assert note_of(desk, b"000wxb").name == "middle"
    edit(desk, "[0-9]{3}w" + PATTERN.replace("z?", "z{2,4}"))
    assert note_of(desk, b"000wxb").name == "middle"
    # The part itself is rewritten: the text still leads there. Then nothing does.
    edit(desk, "[0-9]{3}wx(a|b)(k|l)")
    assert note_of(desk, b"000wxb").name == "middle"
    edit(desk, "k{2}")
    assert not pane.notes.attached
    assert [one.name for one in pane.notes.lost] == ["middle"]
    commands["state.notes"].trigger()
    assert "middle" in pane.lists.texts[0]
    # By hand it goes to another state, or comes back with the text.
    pane.selection.select(0)
    desk.qtbot.mouseClick(pane.lists.buttons[1], Qt.MouseButton.LeftButton)
    assert note_of(desk, b"").name == "middle"
    pane.view.setFocus()
    desk.qtbot.keyClick(pane.view, Qt.Key.Key_Z, CONTROL)
    edit(desk, PATTERN)
    assert note_of(desk, b"xa").name == "middle"
    # The file keeps it.
    stored = decode(encode(desk.document.content), "a.turnstile")
    assert stored.state_notes == desk.document.content.state_notes
    desk.document.replace(DocumentFile(grammar=GrammarPart("regex", PATTERN), state_notes=stored.state_notes))
    desk.wait(lambda: [one.name for _, one in pane.notes.attached] == ["middle"])
    desk.document.replace(DocumentFile(grammar=GrammarPart("regex", PATTERN)))
    desk.wait(lambda: not pane.notes.notes and desk.is_ready())


def test_rules_and_their_states_have_bookmarks_that_lead_there(desk):
    desk.open('root ::= "<" item ("," item)* ">"\nitem ::= [0-9]{2} | "(" item ")"', notation="gbnf")
    pane, commands = desk.panes.automaton, desk.window.commands
    desk.wait(lambda: pane.scene.diagram is not None and pane.navigation.wanted is None)
    pane.navigation.show_rule("item")
    desk.wait(lambda: pane.navigation.wanted is None and pane.navigation.is_current)
    inside = pane.navigation.automaton.dfa.run(b"(")
    pane.selection.select(inside)
    commands["state.bookmark"].trigger()
    assert commands["state.bookmark"].isChecked()
    assert pane.scene.highlights.bookmarked == {inside}
    pane.navigation.show_rule("root")
    desk.wait(lambda: pane.navigation.wanted is None and pane.navigation.is_current)
    edit(desk, 'root ::= "[" item* "]"\nitem ::= [a-z] | "((" item ")" | "(" item ")"')
    commands["state.notes"].trigger()
    assert len(pane.lists.texts) == 1
    desk.qtbot.keyClick(pane.lists.list, Qt.Key.Key_Down)
    desk.wait(lambda: pane.navigation.selected_state == ("item", pane.notes.attached[0][0][1]))
    desk.qtbot.mouseClick(pane.lists.buttons[0], Qt.MouseButton.LeftButton)
    assert desk.document.content.state_notes == ()
