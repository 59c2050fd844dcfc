"""The automaton pane in a whole window: regions, rules, stacks, tokens and commands, with real workers."""

from __future__ import annotations

from catalogue_texts import shows
from model_doubles import LETTERS
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from app.panes.automaton.view_state import ViewState

COUNTER = r"[A-Z]+: [0-9]{0,200}\n"
REGULAR = 'root ::= name ": " digits\nname ::= [A-Z]{3}\ndigits ::= ([0-9] "."?){1,80}'


def take(desk, text):
    for char in text:
        desk.session.decoding.take(LETTERS.index(char.encode()))
    desk.wait(lambda: desk.output == text.encode())


def test_a_counter_is_one_box_that_lights_up_when_the_match_is_in_it(desk):
    desk.open(COUNTER)
    pane = desk.panes.automaton
    desk.wait(lambda: pane.scene.diagram is not None and pane.scene.highlights.live == {0})
    assert [name.split("\n")[0] for name in pane.scene.diagram.names.values()][2] == "[0-9]{0,200}"
    take(desk, "A: 1")
    desk.wait(lambda: pane.scene.highlights.live == {2})
    assert pane.scene.highlights.path == {(0, 1), (1, 2)}
    desk.window.commands["automaton.live"].trigger()
    assert pane.level_bar.note.text() == ui_text("automaton.location.live")
    desk.window.commands["automaton.merge"].trigger()
    desk.wait(lambda: not pane.scene.diagram.names)  # states have numbers, regions and counters have names
    (live,) = pane.scene.highlights.live
    key = next(
        key for key in pane.scene.positioned.curves if key[0] == live and pane.scene.diagram.labels[key] == "[0-9]"
    )
    desk.wait(lambda: key in pane.scene.badges.labels)
    assert pane.scene.badges.labels[key].text.startswith("10 · ")


def test_a_regular_grammar_of_many_states_opens_on_its_rules_and_the_light_follows(desk):
    desk.open(REGULAR, notation="gbnf")
    pane = desk.panes.automaton
    desk.wait(lambda: pane.header.counts.text().startswith("3 rules of "))
    desk.wait(lambda: pane.scene.highlights.live == {1})
    take(desk, "ABC: 7")
    desk.wait(lambda: 2 in pane.scene.highlights.live and 1 not in pane.scene.highlights.live)
    assert (0, 2) in pane.scene.highlights.next_edges  # the call under way
    desk.qtbot.mouseClick(pane.footer.stacks_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: pane.stacks.topLevelItem(0).text(0).startswith("digits"))


def test_the_tokens_of_the_live_state_are_drawn_and_followed(desk):
    desk.open("(ab|cd)*e")
    pane = desk.panes.automaton
    desk.wait(lambda: pane.scene.diagram is not None)
    desk.window.commands["automaton.tokens"].trigger()
    desk.wait(lambda: any("token" in label for label in pane.scene.diagram.labels.values()))
    assert pane.level_bar.note.text() == ui_text(
        "automaton.location.tokens", state=ui_text("automaton.location.fragment.live"), total=4
    )
    assert any("ab" in label for label in pane.scene.diagram.labels.values())
    take(desk, "c")
    desk.wait(lambda: pane.level_bar.note.text().endswith(": 1 allowed"))
    desk.window.commands["automaton.up"].trigger()
    desk.wait(lambda: not any("token" in label for label in pane.scene.diagram.labels.values()))
    assert set(pane.scene.diagram.labels.values()) == {"ab\ncd", "e"}  # all states, with forced runs merged


def test_a_candidate_under_the_pointer_outlines_its_way(desk):
    desk.open("(ab|cd)*e")
    pane, table = desk.panes.automaton, desk.panes.generation.candidates.table
    desk.wait(lambda: pane.scene.highlights.live == {0} and table.candidates.rowCount() > 3)
    # A layout that is still to come is lit when it is there, and rows that are replaced take the pointer's row along.
    desk.wait(lambda: pane.navigation.wanted is None and not any(group.pending for group in desk.session.worker_pool))
    row = next(row for row in range(table.candidates.rowCount()) if table.candidates.candidate(row).token == b"ab")
    table.choose(row)
    place = table.visualRect(table.candidates.index(row, 1)).center()
    desk.qtbot.mouseMove(table.viewport(), place)
    desk.wait(lambda: pane.scene.highlights.candidate_path == {(0, 0)})
    assert pane.scene.highlights.candidate_states == {0}
    desk.qtbot.mouseMove(desk.panes.editor.edit.viewport(), QPoint(3, 3))
    QApplication.sendPostedEvents()
    table.pointed_at.emit(None)
    assert pane.scene.highlights.candidate_path == set()


def test_every_command_of_the_menu_does_something_and_none_breaks(desk, tmp_path):
    desk.open(COUNTER)
    pane, commands = desk.panes.automaton, desk.window.commands
    desk.wait(lambda: pane.scene.diagram is not None)
    own = [command.id for command, _ in commands if command.menu == "automaton"]
    assert len(pane.header.more_button.menu().actions()) >= len(own)
    for command_id in own:
        if command_id not in ("automaton.save", "automaton.coverage_log"):  # they open dialogs
            commands[command_id].trigger()
            commands[command_id].trigger()
    desk.wait(lambda: pane.navigation.wanted is None)
    assert QApplication.clipboard().text().startswith("digraph automaton")
    commands["automaton.stacks"].trigger()
    assert pane.footer.stacks_button.isChecked() == commands["automaton.stacks"].isChecked()
    desk.window.panes["automaton"].save_to(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size > 500
    alarms = []
    desk.session.notification_raised.connect(alarms.append)
    desk.window.panes["automaton"].save_to(tmp_path / "no" / "a.svg")
    assert "cannot be written" in alarms[0].text


def test_the_ways_to_leave_the_table_and_come_back(desk):
    desk.open("abc")
    pane, action = desk.panes.automaton, desk.window.commands["automaton.table"]
    desk.wait(pane.view.isVisible)
    action.trigger()
    assert pane.table.isVisible()
    assert action.isChecked()
    desk.qtbot.mouseClick(pane.header.graph_button, Qt.MouseButton.LeftButton)
    assert not action.isChecked()
    action.trigger()
    action.trigger()
    assert pane.view.isVisible()


def test_what_cannot_be_drawn_otherwise_is_not_offered_and_says_why(desk):
    desk.open("ab[cd]e")
    commands, header = desk.window.commands, desk.panes.automaton.header
    merge, every = commands["automaton.merge"], commands["automaton.all"]
    desk.wait(merge.isEnabled)
    assert not every.isEnabled()
    assert "drawn" in every.toolTip()
    grammar = GrammarPart("gbnf", 'root ::= "a" item "b"\nitem ::= "(" item ")" | "x"')
    desk.document.replace(DocumentFile(grammar=grammar, model=ModelPart("letters")))
    desk.wait(lambda: header.merge_button.isHidden() and not desk.session.step_refusal)
    assert not merge.isEnabled()
    assert shows(merge.toolTip(), "window.command.merge_unavailable")
    grammar = GrammarPart("gbnf", 'root ::= "abc" item "b"\nitem ::= "(" item ")" | "x"')
    desk.document.replace(DocumentFile(grammar=grammar, model=ModelPart("letters")))
    desk.wait(merge.isEnabled)
    assert shows(merge.toolTip(), "commands.automaton.merge.tip")


def test_the_menu_marks_the_layout_in_use(desk):
    desk.open(COUNTER)
    commands = desk.window.commands

    def checked():
        layouts = ("layout", "layout_dot", "layout_sugiyama", "layout_layered", "turn")
        return {name for name in layouts if commands[f"automaton.{name}"].isChecked()}

    desk.wait(lambda: desk.panes.automaton.scene.diagram is not None)
    desk.wait(lambda: checked() == {"layout", "layout_dot"})  # the automatic one, and what it has chosen
    for _ in range(2):  # choosing the same one again changes nothing
        commands["automaton.layout_layered"].trigger()
        desk.wait(lambda: checked() == {"layout_layered"})
    commands["automaton.turn"].trigger()
    desk.wait(lambda: checked() == {"layout_layered", "turn"})
    desk.panes.automaton.begin(ViewState())
    assert checked() == {"layout"}
