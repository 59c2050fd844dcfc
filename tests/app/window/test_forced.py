"""Forced runs in the whole window: runs in one go, the pane, and the merged automaton."""

import json

import pytest
from catalogue_texts import shows
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from app.panes.forced.pane import Page
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind
from engine.decoding.forced.merging import merge_forced
from engine.decoding.forced.values import savings_of
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import StepOrigin

PEOPLE = r'\{"name":"(John|Paul)","age":(20|30)\}'
CTRL = Qt.KeyboardModifier.ControlModifier


def steps(desk):
    view = desk.session.decoding.view
    return [view.trace.nodes[node].step for node in view.trace.path]


def press(desk, leader, key):
    QTest.keyClick(desk.window, leader, CTRL)
    QTest.keyClick(desk.window, key)


def take_forced_runs(desk):
    press(desk, Qt.Key.Key_R, Qt.Key.Key_F)
    desk.wait(lambda: desk.session.decoding.view.pipeline.forced == "own")


def open_pane(desk):
    QTest.keyClick(desk.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(desk.window, Qt.Key.Key_F)
    desk.wait(lambda: desk.window.panes["forced"].view.built is not None)
    pane = desk.window.panes.view("forced")
    desk.wait(pane.isVisible)
    return pane


def test_steps_take_whole_runs_and_the_document_keeps_it(desk):
    desk.open(PEOPLE)
    take_forced_runs(desk)
    assert desk.document.content.pipeline.forced == "own"
    assert desk.window.commands["run.fast_forward"].isChecked()
    QTest.mouseClick(desk.window.toolbar.step_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.output == b'{"name":"')
    assert {step.origin for step in steps(desk)} == {StepOrigin.FAST_FORWARDED}
    QTest.mouseClick(desk.window.toolbar.step_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.output is not None and desk.output.endswith(b'","age":'))
    saved = savings_of(steps(desk))
    savings = ui_text("generation.output.savings.calls", forced=saved.forced, count=saved.calls)
    assert savings in desk.panes.generation.output.tally.text()
    chip = desk.panes.generation.output.chips.chips[0]
    assert ui_text("common.step.fast_forwarded") in chip.tip()
    press(desk, Qt.Key.Key_R, Qt.Key.Key_F)
    desk.wait(lambda: desk.session.decoding.view.pipeline.forced == "none")


def test_a_run_goes_to_its_end_and_is_not_asked_for_what_is_forced(desk):
    desk.open(PEOPLE)
    take_forced_runs(desk)
    QTest.keyClick(desk.window, Qt.Key.Key_F5)
    desk.wait(lambda: not desk.session.decoding.is_running and len(steps(desk)) > 9)
    assert desk.output in {f'{{"name":"{name}","age":{age}}}'.encode() for name in ("John", "Paul") for age in (20, 30)}
    assert sum(step.was_queried for step in steps(desk)) <= 4


def test_no_breakpoint_is_run_over_within_a_run(desk):
    desk.open(PEOPLE)
    take_forced_runs(desk)
    state = desk.session.compiling.last_good.dfa.run(b'{"na')
    desk.document.set_breakpoints((Breakpoint(BreakpointKind.STATE, "", state=state, label="there"),))
    QTest.keyClick(desk.window, Qt.Key.Key_F5)
    desk.wait(lambda: not desk.session.decoding.is_running and desk.output == b'{"na')


def test_a_schema_runs_in_its_compact_spelling(desk):
    schema = {
        "type": "object",
        "properties": {"name": {"enum": ["John", "Paul"]}},
        "required": ["name"],
        "additionalProperties": False,
    }
    desk.session.start()
    grammar = GrammarPart(notation="json_schema", text=json.dumps(schema))
    pipeline = PipelineSettings(forced="longest")
    desk.document.replace(DocumentFile(grammar=grammar, model=ModelPart("letters"), pipeline=pipeline))
    desk.wait(lambda: not desk.session.step_refusal)
    QTest.mouseClick(desk.window.toolbar.step_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.output == b'{"name":"')
    pane = open_pane(desk)
    desk.wait(lambda: ui_text("forced.form.compact.long") in pane.runs.summary.text())


def test_runs_are_listed_and_a_click_compares_their_spellings(desk):
    desk.open(PEOPLE)
    pane = open_pane(desk)
    table = pane.runs.table
    desk.wait(lambda: len(table.rows.rows) > 4 and table.rows.rows[0].where == ui_text("common.fragment.here"))
    QTest.mouseClick(
        table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(table.model().index(1, 0)).center()
    )
    desk.wait(lambda: bool(pane.runs.spellings.spellings.rows))
    assert pane.runs.part.text() == "name"
    (row,) = pane.runs.spellings.spellings.rows
    assert row.tokens == ("n", "a", "m", "e")
    # Another grammar: all of it is asked for anew.
    desk.panes.editor.edit.selectAll()
    QTest.keyClicks(desk.panes.editor.edit, "abc|abd")
    desk.wait(lambda: [row.text for row in table.rows.rows][:2] == ["ab", "ab"])
    assert not pane.runs.spellings.spellings.rows


def test_what_is_forced_here_follows_the_steps(desk):
    desk.open(PEOPLE)
    pane = open_pane(desk)
    table = pane.runs.table
    desk.wait(lambda: bool(table.rows.rows) and table.rows.rows[0].text == '{"name":"')
    QTest.mouseClick(desk.window.toolbar.step_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: table.rows.rows[0].text == '"name":"')


def test_strategies_and_the_index(desk):
    desk.open(PEOPLE)
    pane = open_pane(desk)
    QTest.mouseClick(pane.switches.button(Page.STRATEGIES), Qt.MouseButton.LeftButton)
    desk.wait(pane.strategies.measure.isEnabled)
    QTest.mouseClick(pane.strategies.measure, Qt.MouseButton.LeftButton)
    desk.wait(
        lambda: (
            pane.strategies.table.rowCount() == 4
            and pane.strategies.measure.text() == ui_text("forced.strategies.measure.again")
        )
    )
    assert int(pane.strategies.table.item(1, 2).text()) < int(pane.strategies.table.item(0, 2).text())
    QTest.mouseClick(pane.switches.button(Page.INDEX), Qt.MouseButton.LeftButton)
    desk.wait(lambda: pane.index.text.toPlainText().startswith("0: {"))
    assert pane.index.copy.isEnabled()


def test_the_strategy_is_chosen_in_the_pane_and_in_the_dialog(desk):
    desk.open(PEOPLE)
    pane = open_pane(desk)
    pane.strategy.setFocus()
    QTest.keyClick(pane.strategy, Qt.Key.Key_Down)
    desk.wait(lambda: desk.session.decoding.view.pipeline.forced == "longest")
    press(desk, Qt.Key.Key_R, Qt.Key.Key_P)
    dialog = desk.panes.generation.processors.dialog
    desk.wait(lambda: dialog.isVisible() and dialog.forced.currentIndex() == 1)
    dialog.forced.setFocus()
    QTest.keyClick(dialog.forced, Qt.Key.Key_Down)
    desk.wait(lambda: desk.session.decoding.view.pipeline.forced == "own")
    desk.wait(lambda: pane.strategy.currentIndex() == 2)
    QTest.mouseClick(dialog.reset, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.session.decoding.view.pipeline == PipelineSettings())


def test_the_automaton_is_merged_and_back(desk):
    desk.open(PEOPLE)
    automaton = desk.panes.automaton
    desk.wait(
        lambda: automaton.navigation.drawn is not None and len(automaton.navigation.drawn.diagram.excerpt.states) == 5
    )
    button = automaton.header.merge_button
    assert button.isVisible()
    assert button.isChecked()
    press(desk, Qt.Key.Key_M, Qt.Key.Key_J)
    desk.wait(lambda: len(automaton.navigation.drawn.diagram.excerpt.states) == 28)
    press(desk, Qt.Key.Key_M, Qt.Key.Key_J)
    desk.wait(lambda: len(automaton.navigation.drawn.diagram.excerpt.states) == 5)
    assert automaton.header.counts.text().startswith(ui_text("common.count.states", count=5))
    for _ in range(4):
        desk.session.decoding.step()
        count = len(steps(desk))
        desk.wait(lambda count=count: len(steps(desk)) > count)
    desk.wait(
        lambda: automaton.navigation.drawn is not None and len(automaton.navigation.drawn.diagram.excerpt.states) == 5
    )
    QTest.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    desk.wait(lambda: len(automaton.navigation.drawn.diagram.excerpt.states) == 28)
    assert not desk.window.commands["automaton.merge"].isChecked()


def test_all_states_of_regions_are_merged(desk):
    desk.open("".join(f"(first{n}|second{n})" for n in range(8)))
    automaton = desk.panes.automaton
    desk.wait(lambda: automaton.navigation.drawn is not None and automaton.navigation.drawn.automaton.noun == "region")
    assert not automaton.header.merge_button.isVisible()
    QTest.mouseClick(automaton.header.all_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: automaton.navigation.drawn.automaton.noun == "state" and automaton.navigation.drawn.is_whole)
    left = len(merge_forced(desk.session.compiling.last_good.dfa).states)
    assert len(automaton.navigation.drawn.diagram.excerpt.states) == left
    assert automaton.header.counts.text().startswith(ui_text("common.count.states", count=left))


def test_a_drawing_with_nothing_to_merge_offers_nothing(desk):
    desk.open("[a-z]*")
    automaton = desk.panes.automaton
    desk.wait(lambda: automaton.navigation.drawn is not None)
    assert not automaton.header.merge_button.isVisible()


def test_a_grammar_with_a_stack_says_why_there_is_no_list(desk):
    desk.session.start()
    grammar = GrammarPart(notation="gbnf", text='root ::= "(" root? ")"')
    desk.document.replace(DocumentFile(grammar=grammar, model=ModelPart("letters")))
    desk.wait(lambda: not desk.session.step_refusal)
    pane = open_pane(desk)
    desk.wait(lambda: ui_text("workers.forced.needs_stack") in pane.runs.summary.text())
    assert [row.where for row in pane.runs.table.rows.rows] == ["here"]


def test_an_open_schema_gets_an_index_once_it_is_closed(desk):
    schema = {
        "type": "object",
        "properties": {"name": {"enum": ["John", "Paul"]}, "age": {"enum": [20, 30]}},
        "required": ["name", "age"],
    }
    desk.session.start()
    grammar = GrammarPart(notation="json_schema", text=json.dumps(schema))
    desk.document.replace(DocumentFile(grammar=grammar, model=ModelPart("letters")))
    desk.wait(lambda: not desk.session.step_refusal)
    pane = open_pane(desk)
    QTest.mouseClick(pane.switches.button(Page.INDEX), Qt.MouseButton.LeftButton)
    desk.wait(pane.index.close_objects.isVisible)
    assert shows(pane.index.summary.text().lower(), "export.refusal.fragment.open_objects")
    QTest.mouseClick(pane.index.close_objects, Qt.MouseButton.LeftButton)
    assert desk.document.content.grammar.additional == "closed"
    desk.wait(lambda: pane.index.text.toPlainText().startswith("0: {"))
    assert pane.index.close_objects.isHidden()
    assert pane.index.summary.text().startswith(ui_text("common.count.states", count=28))


@pytest.mark.parametrize("page", [Page.RUNS, Page.STRATEGIES])
def test_a_long_question_can_be_given_up(desk, page):
    desk.open(PEOPLE)
    pane = open_pane(desk)
    desk.wait(lambda: len(pane.runs.table.rows.rows) > 4)
    if page is Page.STRATEGIES:
        QTest.mouseClick(pane.switches.button(page), Qt.MouseButton.LeftButton)
        QTest.mouseClick(pane.strategies.measure, Qt.MouseButton.LeftButton)
    else:
        pane.runs.table.chosen.emit(pane.runs.table.rows.rows[1])
    desk.session.cancel_background()
    desk.wait(
        lambda: (
            pane.strategies.measure.text() != ui_text("common.button.cancel")
            and pane.runs.compare.text() == ui_text("forced.tokenizations.compare.label")
        )
    )
    shown = pane.strategies.summary.text() if page is Page.STRATEGIES else pane.runs.status.text()
    assert shown == ui_text("session.lost.cancelled")
