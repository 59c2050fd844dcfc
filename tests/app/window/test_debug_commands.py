"""Runs that stop, breakpoints, forced tokens, baseline and timeline in a whole window, by mouse and keys."""

import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QLineEdit

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from app.models.candidates import CandidateColumn
from app.models.states import MARKS
from app.panes.timeline.pane import worst_of
from app.theme.mnemonics import without_mnemonic
from engine.decoding.debugging.breakpoints import BreakpointKind
from engine.decoding.debugging.run_until import Goal
from engine.decoding.values import Finish, StepOrigin
from engine.source.catalogue import capitalised

LEFT = Qt.MouseButton.LeftButton
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
GBNF = 'root ::= "(" word ")" tail\nword ::= [ab]{3} more\nmore ::= "c" [x]\ntail ::= "z" [yz]{5}\n'


@pytest.fixture
def rules(desk):
    """A window with a grammar of rules, before the first step."""
    desk.open(GBNF, notation="gbnf")
    desk.activate()
    return desk


def press(desk, key, modifiers=Qt.KeyboardModifier.NoModifier):
    desk.qtbot.keyClick(desk.window.focusWidget() or desk.window, key, modifiers)


def put_cursor(desk, offset):
    edit = desk.panes.editor.edit
    edit.setFocus()
    cursor = edit.textCursor()
    cursor.setPosition(offset)
    edit.setTextCursor(cursor)


def ended(desk):
    desk.wait(lambda: not desk.session.decoding.is_running)
    return desk.panes.generation.banner.text()


def test_a_breakpoint_at_the_cursor_stops_a_run_and_is_listed(rules):
    desk, panes = rules, rules.panes
    put_cursor(desk, GBNF.index("more ::="))
    press(desk, Qt.Key.Key_F9)
    desk.wait(lambda: bool(desk.document.content.breakpoints))
    assert panes.view("breakpoints").model.rows[0].name == "more"
    press(desk, Qt.Key.Key_F5)
    assert ended(desk) == ui_text("session.run.breakpoint_before", token="c", names="the rule more")
    assert re.fullmatch(rb"\([ab]{3}", desk.output)
    assert panes.view("breakpoints").table.currentIndex().row() == 0
    press(desk, Qt.Key.Key_F5)  # and on to the end, past it
    ended(desk)
    assert desk.session.decoding.view.position.accepting
    desk.panes.editor.edit.setFocus()
    press(desk, Qt.Key.Key_F9)
    desk.wait(lambda: not desk.document.content.breakpoints)


def test_a_click_on_a_lines_number_sets_and_removes_one(rules):
    edit = rules.panes.editor.edit
    line = edit.cursorRect(edit.textCursor()).height() * 2 + 6  # the third
    assert edit.gutter.line_at(QPoint(5, line)) == 2
    rules.qtbot.mouseClick(edit.gutter, LEFT, pos=QPoint(20, line))
    rules.wait(lambda: [one.name for one in rules.document.content.breakpoints] == ["more"])
    assert edit.gutter.breakpoints == {2: True}
    rules.window.panes.view("breakpoints").table.selectRow(0)
    rules.qtbot.keyClick(rules.window.panes.view("breakpoints").table, Qt.Key.Key_Space)
    assert edit.gutter.breakpoints == {2: False}
    edit.setFocus()
    cursor = edit.textCursor()
    cursor.setPosition(0)
    edit.setTextCursor(cursor)
    rules.qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert edit.gutter.breakpoints == {3: False}
    rules.wait(lambda: not rules.session.step_refusal)
    rules.qtbot.mouseClick(edit.gutter, LEFT, pos=QPoint(20, edit.cursorRect(edit.textCursor()).height() * 3 + 6))
    rules.wait(lambda: not rules.document.content.breakpoints)


def test_a_breakpoint_is_saved_and_shown_again(rules, tmp_path):
    put_cursor(rules, GBNF.index("tail ::="))
    press(rules, Qt.Key.Key_F9)
    rules.wait(lambda: bool(rules.document.content.breakpoints))
    rules.document.save(tmp_path / "a.turnstile")
    rules.open("a")
    assert not rules.window.panes.view("breakpoints").model.rows
    rules.document.open(tmp_path / "a.turnstile")
    assert rules.window.panes.view("breakpoints").model.rows[0].name == "tail"


def test_over_and_out_by_key(rules):
    press(rules, Qt.Key.Key_F11)
    rules.wait(lambda: rules.output == b"(")
    press(rules, Qt.Key.Key_F10)
    assert ended(rules).startswith("Stepped over")
    assert rules.output.endswith(b"cx")
    press(rules, Qt.Key.Key_F11)
    rules.wait(lambda: rules.output.endswith(b")"))
    press(rules, Qt.Key.Key_F11)
    rules.wait(lambda: rules.output.endswith(b"z"))
    press(rules, Qt.Key.Key_F11, SHIFT)
    ended(rules)
    assert rules.session.decoding.view.position.accepting


def test_run_until_by_its_popover(rules):
    press(rules, Qt.Key.Key_F5, CONTROL)
    popover = rules.panes.generation.run_until
    assert popover.isVisible()
    assert popover.rule.findText("more") >= 0
    popover.count.setValue(2)
    rules.qtbot.mouseClick(popover.run, LEFT)
    assert ended(rules) == ui_text("decoding.run.tokens", count=2)
    assert len(rules.session.decoding.view.trace.path) == 2


def test_run_until_a_part_of_a_schema_is_over(desk):
    desk.session.start()
    schema = (
        '{"properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"], "additionalProperties": false}'
    )
    desk.document.replace(
        DocumentFile(grammar=GrammarPart(notation="json_schema", text=schema), model=ModelPart("letters"))
    )
    desk.wait(lambda: not desk.session.step_refusal)
    desk.activate()
    press(desk, Qt.Key.Key_F5, CONTROL)
    rule = desk.panes.generation.run_until.rule
    assert [rule.itemText(row) for row in range(rule.count())] == ["/properties/a", "/properties/b"]


def test_the_button_opens_the_popover_too(rules):
    rules.qtbot.mouseClick(rules.window.toolbar.until_button, LEFT)
    popover = rules.panes.generation.run_until
    popover.choices[Goal.EOS_LEGAL].click()
    rules.qtbot.keyClick(popover, Qt.Key.Key_Return)
    assert (
        ended(rules) == capitalised(ui_text("decoding.run.may_end"))
        or rules.session.decoding.view.position.finish is Finish.STOP
    )


def test_the_selected_state_of_the_automaton(desk):
    desk.open("[ab]{5}x")
    automaton = desk.panes.automaton
    state = desk.session.compiling.last_good.dfa.run(b"aaa")
    desk.wait(lambda: automaton.scene.diagram is not None)
    automaton.view.setFocus()
    automaton.view.state_clicked.emit(state)
    press(desk, Qt.Key.Key_F9)
    (one,) = desk.document.content.breakpoints
    assert (one.kind, one.name, one.state) == (BreakpointKind.STATE, "", state)
    press(desk, Qt.Key.Key_F5)
    assert ended(desk) == ui_text("session.run.breakpoint_reached", name=f"state {state}")
    assert len(desk.output) == 3


def test_breakpoints_are_marked_where_they_are_drawn_and_in_the_table(desk):
    desk.open("a+b")
    pane = desk.panes.automaton
    desk.wait(lambda: pane.scene.diagram is not None and pane.scene.highlights.live == {0})
    pane.view.setFocus()
    pane.view.state_clicked.emit(1)
    press(desk, Qt.Key.Key_F9)
    desk.wait(lambda: pane.scene.highlights.breakpoints == {1})
    assert pane.scene.highlight_layer.breakpoints.path().elementCount() > 0
    assert pane.model.index(1, MARKS).data() == ui_text("automaton.states.mark.breakpoint")
    desk.document.set_breakpoints(tuple(replace(one, enabled=False) for one in desk.document.content.breakpoints))
    assert (pane.scene.highlights.breakpoints, pane.scene.highlights.disabled_breakpoints) == (frozenset(), {1})
    assert pane.model.index(1, MARKS).data() == ui_text("automaton.states.mark.breakpoint_off")
    desk.document.set_breakpoints(())
    assert pane.scene.highlights.disabled_breakpoints == frozenset()


def test_forcing_an_illegal_token(rules):
    table = rules.panes.generation.candidates.table
    token_id = next(c.token_id for c in rules.session.decoding.view.position.candidates if not c.allowed and c.token)
    table.setFocus()
    table.choose(table.candidates.row_of(token_id))
    press(rules, Qt.Key.Key_Return, SHIFT)
    rules.wait(lambda: rules.session.decoding.view.position.broken_at == 0)
    view = rules.session.decoding.view
    assert view.trace.nodes[0].step.origin == StepOrigin.FORCED_BY_USER
    forced_against = ui_text("workers.decode.forced_against.grammar", token="", verdict="").partition("(")[0]
    assert forced_against.removeprefix("“”") in rules.panes.generation.banner.text()
    assert ui_text("generation.output.broken", token=1) in rules.panes.generation.output.tally.text()
    rules.window.commands["run.step"].trigger()
    rules.wait(lambda: rules.session.decoding.view.position.index == 2)
    rules.window.commands["run.restart"].trigger()
    rules.wait(lambda: rules.session.decoding.view.position.broken_at is None)


def test_nothing_selected_cannot_be_forced(rules):
    rules.panes.generation.candidates.table.clearSelection()
    rules.window.commands["run.force"].trigger()
    assert "struck-through" in rules.panes.generation.banner.text()


def test_a_candidates_menu_runs_until_its_token(rules):
    table = rules.panes.generation.candidates.table
    allowed = next(c for c in rules.session.decoding.view.position.candidates if c.allowed)
    menu = table.menu_of(allowed)
    texts = [without_mnemonic(action.text()).partition("\t")[0] for action in menu.actions() if action.text()]
    names = *(f"candidates.{name}" for name in ("take", "why", "until")), "words.action", "candidates.force"
    assert texts[:5] == [ui_text(f"generation.{name}") for name in names]
    assert [action.isEnabled() for action in menu.actions() if action.text()][:5] == [True, True, True, True, False]
    menu.actions()[2].trigger()
    assert ended(rules).endswith("was taken")
    assert rules.output == b"("
    menu.deleteLater()


def test_a_look_up_says_why_not(rules):
    candidates = rules.panes.generation.candidates
    candidates.search.setFocus()
    rules.qtbot.keyClicks(candidates.search, "q")
    rules.wait(lambda: candidates.verdict.isVisible() and bool(candidates.verdict.text()))
    assert candidates.verdict.text() == f"✗ q {ui_text('workers.verdict.fragment.stops', byte='“q”', expected='“(”')}"
    table = candidates.table
    box = table.visualRect(table.candidates.index(0, CandidateColumn.TOKEN))
    rules.qtbot.mouseMove(table.viewport(), box.center())
    # a text that is no token is explained as a whole
    rules.qtbot.keyClicks(candidates.search, "(q")
    rules.wait(candidates.why_several.isVisible)
    rules.qtbot.mouseClick(candidates.why_several, Qt.MouseButton.LeftButton)
    assert rules.panes.generation.why.isVisible()
    assert "q(q" in rules.panes.generation.why.title.text().replace("&nbsp;", "")
    candidates.search.clear()
    assert not candidates.why_several.isVisible()


def test_the_baseline_is_generated_and_compared(rules):
    rules.window.commands["run.step"].trigger()
    rules.wait(lambda: rules.output == b"(")
    press(rules, Qt.Key.Key_T, CONTROL | SHIFT)
    page = rules.panes.generation.baseline
    rules.wait(lambda: page.generate.text() == ui_text("generation.baseline.again"))
    verdict = page.verdict.text()
    assert verdict != ui_text("generation.baseline.empty")
    rules.window.commands["run.step"].trigger()
    rules.wait(lambda: len(rules.output) > 1)
    assert page.verdict.text() == ui_text("generation.baseline.stale", verdict=verdict)


def test_the_timeline_by_click_and_key(rules):
    rules.window.commands["run.run"].trigger()
    ended(rules)
    rules.wait(lambda: not rules.session.decoding.is_running)
    timeline = rules.window.panes.view("timeline")
    press(rules, Qt.Key.Key_7, CONTROL)
    rules.wait(lambda: timeline.plot is not None and bool(timeline.plot.tops))
    rules.wait(lambda: ui_text("common.measure.stacks.name") in timeline.tip_of(1))
    plot = timeline.plot
    scene = plot.strips[0].getViewBox().mapViewToScene(QPointF(1, 0.5))
    rules.qtbot.mouseClick(plot.widget.viewport(), LEFT, pos=plot.widget.mapFromScene(scene))
    rules.wait(lambda: rules.session.decoding.view.position.index == 2)
    press(rules, Qt.Key.Key_Left)
    rules.wait(lambda: rules.session.decoding.view.position.index == 1)
    trace = rules.session.decoding.view.trace
    steps = {node.id: node.step for node in trace.nodes}
    worst = worst_of(tuple(steps[node_id] for node_id in trace.path))
    rules.window.commands["run.worst"].trigger()
    rules.wait(lambda: rules.session.decoding.view.position.index == worst)


def test_the_chips_colours_are_chosen_by_key_and_kept(rules):
    press(rules, Qt.Key.Key_L, CONTROL)
    press(rules, Qt.Key.Key_3)
    assert rules.panes.generation.output.colours.text().startswith("Surprise")
    assert rules.window.commands["view.chips_surprise"].isChecked()
    assert not rules.window.commands["view.chips_probability"].isChecked()
    assert rules.settings.preferences.chip_colours == "surprise"


def test_an_edit_leaves_the_timeline_open(rules):
    press(rules, Qt.Key.Key_7, CONTROL)
    assert rules.window.dock_layout.bottom_is_open
    rules.panes.editor.edit.setFocus()
    rules.qtbot.keyClicks(rules.panes.editor.edit, "(")
    rules.wait(lambda: not rules.panes.problems.is_empty)
    rules.window.problem_folding.decide()
    assert rules.window.dock_layout.bottom.currentWidget() is rules.window.panes.view("timeline")
    rules.qtbot.keyClick(rules.panes.editor.edit, Qt.Key.Key_Backspace)
    rules.wait(lambda: rules.panes.problems.is_empty)
    rules.window.problem_folding.decide()
    assert rules.window.dock_layout.bottom_is_open


def test_a_run_goes_on_while_a_token_is_looked_up(desk):
    desk.open("[ab]{30}c")
    table = desk.panes.generation.candidates
    desk.qtbot.mouseClick(table.search, LEFT)
    desk.qtbot.keyClicks(table.search, "b")
    desk.wait(table.found.isVisible)
    # The field's delay is longer than a step of this model; on a slow one each step is followed by a search.
    desk.session.decoding.view_changed.connect(lambda _view: table.lookup_wanted.emit(table.search.text()))
    desk.activate()
    press(desk, Qt.Key.Key_F5)
    assert ended(desk) == ""
    assert desk.session.decoding.view.position.finish is Finish.STOP
    desk.wait(lambda: "stopped because" in desk.panes.generation.headline.text)  # the assessment came, too
    assert table.search.text() == "b"


def test_a_run_that_something_else_stops_says_by_what(desk):
    desk.open("[ab]{200}c")
    generation = desk.panes.generation
    desk.activate()
    press(desk, Qt.Key.Key_F5)
    desk.wait(lambda: len(desk.output) > 2)
    chips = generation.output.chips
    desk.qtbot.mouseClick(chips.viewport(), LEFT, pos=chips.rect_of(0).center().toPoint())
    assert ended(desk) == ui_text("session.run.stopped", reason=ui_text("session.run.fragment.go_to"))
    desk.wait(lambda: not desk.session.worker_pool.decode.pending)
    assert len(desk.output) == 1
    assert ended(desk) == ui_text(
        "session.run.stopped", reason=ui_text("session.run.fragment.go_to")
    )  # the views that followed left it
    press(desk, Qt.Key.Key_F5)
    desk.wait(lambda: len(desk.output) > 2)
    press(desk, Qt.Key.Key_F5)
    assert ended(desk) == ""  # it was paused


def test_an_explanation_that_is_asked_for_in_a_run_stays_and_says_of_which_token_it_is(desk):
    desk.open("[ab]{120}c")
    generation = desk.panes.generation
    desk.activate()
    generation.candidates.table.candidates.sort(CandidateColumn.TOKEN, Qt.SortOrder.AscendingOrder)
    press(desk, Qt.Key.Key_F5)
    desk.wait(lambda: len(desk.output) > 2)
    desk.qtbot.mouseClick(generation.candidates.table.viewport(), LEFT, pos=QPoint(40, 8))
    desk.wait(generation.why.isVisible)
    ended(desk)
    assert desk.session.decoding.view.position.finish is Finish.STOP
    assert generation.why.isVisible()
    past, _, _ = ui_text("generation.why.fragment.past", token=0).partition("0")
    assert past in generation.why.title.text()


def test_a_branch_is_kept_and_opened_again_from_the_tree(rules):
    desk = rules
    for _ in range(2):
        desk.session.decoding.step()
        desk.wait(lambda: not desk.session.worker_pool.decode.pending)
    written = desk.output
    desk.window.commands["run.keep_branch"].trigger()
    pane = desk.panes.view("branches")
    (kept,) = desk.document.content.archived
    assert (len(kept.steps), bool(kept.name)) == (2, True)
    field = pane.tree.viewport().findChild(QLineEdit, "branch-name")
    field.setText("mine")
    desk.qtbot.keyClick(field, Qt.Key.Key_Return)
    desk.wait(lambda: desk.document.content.archived[0].name == "mine")
    desk.session.decoding.restart()
    desk.wait(lambda: desk.output == b"")
    pane.archived_chosen.emit(desk.document.content.archived[0])
    assert b"".join(data for _, data in desk.panes.generation.output.shown.tokens) == written
    pane.node_chosen.emit(1)
    desk.wait(lambda: desk.output == written)
    assert desk.panes.generation.output.archived is None
