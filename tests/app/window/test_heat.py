"""The heat map of what a grammar takes away, in one window with real workers and the letters model."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QToolButton

from app.catalogue import ui_text
from app.dialogs.replay_dialog import ReplayDialog
from app.document import AutomatonPart, DocumentFile, GrammarPart, ModelPart
from app.models.heat import HeatColumn, heat_rows, lost_text
from engine.diagnosis.test_strings.values import Coverage, CoverageMeasure, CoverageSource

LEFT = Qt.MouseButton.LeftButton
RULES = 'root ::= a | b\na ::= "x" [0-9]+\nb ::= "y"\n'


def written_log(log: Path) -> Path:
    """Write a log of three answers: one with probabilities, one without, and one that the grammar refuses."""
    tokens = [
        {"token": "x", "logprob": math.log(0.25), "top_logprobs": [{"token": "q", "logprob": math.log(0.6)}]},
        {"token": "7", "logprob": math.log(0.75), "top_logprobs": [{"token": "7", "logprob": math.log(0.75)}]},
    ]
    choice = {"message": {"content": "x7"}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    rows = [{"custom_id": "1", "response": {"choices": [choice]}}, {"custom_id": "2", "output": "y"}, {"output": "no"}]
    log.write_text("\n".join(map(json.dumps, rows)))
    return log


@pytest.fixture
def heated(real_desk):
    """A window whose heat map is shown, after ten outputs of the model."""
    desk = real_desk
    desk.session.start()
    grammar = GrammarPart(notation="gbnf", text=RULES)
    desk.document.replace(
        DocumentFile(grammar=grammar, model=ModelPart("shakespeare"), automaton=AutomatonPart(merges=False))
    )
    desk.wait(lambda: not desk.session.step_refusal)
    pane = desk.panes.automaton
    desk.wait(pane.footer.coverage_button.isVisible)
    desk.qtbot.mouseClick(pane.footer.coverage_button, LEFT)
    desk.panes.generation.many.count.setValue(10)
    desk.panes.generation.many.sample.click()
    desk.qtbot.mouseClick(pane.coverage_choice.buttons[CoverageSource.GENERATED], LEFT)
    desk.wait(lambda: (desk.session.coverage.shown[1] or Coverage()).followed == 10)
    return desk


def the_list_is_walked_through_by_keys(heated, found):
    pane, coverage, editor = heated.panes.automaton, heated.session.coverage, heated.panes.editor.edit
    heated.window.commands["automaton.heat_list"].trigger()
    rows = heat_rows(found, coverage.source, coverage.measure)
    table = pane.lists.table
    names = [table.model().index(row, HeatColumn.PART).data() for row in range(table.model().rowCount())]
    assert names[0] == rows[0].name
    assert {row.name for row in rows} == set(names) - {ui_text("automaton.heat.end")}
    assert table.hasFocus()
    at = next(number for number, row in enumerate(rows) if row.rule == "b")
    heated.qtbot.keyClick(table, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    for _ in range(names.index(rows[at].name)):
        heated.qtbot.keyClick(table, Qt.Key.Key_Down)
    assert RULES[rows[at].span.start : rows[at].span.end] in {
        one.cursor.selectedText() for one in editor.extraSelections()
    }
    model, worst = pane.lists.table.model(), max((row.lost for row in rows), key=lambda lost: lost.worst)
    model.sort(HeatColumn.WORST, Qt.SortOrder.DescendingOrder)
    assert model.rows[0].lost.worst == worst.worst
    heated.qtbot.keyClick(table, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    heated.qtbot.mouseClick(pane.lists.findChild(QToolButton, "heat-check"), LEFT)
    dialog = heated.window.findChild(ReplayDialog)
    assert dialog.text.toPlainText().encode() == model.rows[0].lost.output
    dialog.close()
    heated.window.commands["automaton.heat_list"].trigger()
    names = [model.index(row, HeatColumn.PART).data() for row in range(model.rowCount())]
    heated.qtbot.keyClick(table, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    for _ in range(names.index(rows[at].name)):
        heated.qtbot.keyClick(table, Qt.Key.Key_Down)
    heated.qtbot.keyClick(table, Qt.Key.Key_Return)
    assert editor.textCursor().selectedText() == "b"  # the drawing has no rules
    heated.window.commands["view.automaton"].trigger()


def an_output_of_many_seeds_opens_at_its_worst_step_and_counts_once(heated):
    page, decoding = heated.panes.generation.many, heated.session.decoding
    outcome = max(page.model.outcomes, key=lambda one: one.least_z_step)
    page.table.selectRow(next(row for row in range(10) if page.model.outcome(row) == outcome))
    heated.window.commands["view.generation"].trigger()
    heated.panes.generation.pages.setCurrentIndex(heated.panes.generation.pages.indexOf(page))
    heated.qtbot.mouseClick(page.open_button, LEFT)

    def is_there():
        trace = decoding.view.trace
        at = 0 if trace.current is None else trace.path.index(trace.current) + 1
        return len(trace.path) == outcome.tokens and at == outcome.least_z_step

    heated.wait(is_there)
    assert heated.session.coverage.shown[1].followed == 10
    heated.window.commands["view.automaton"].trigger()


def lost_mass_of_test_strings_is_that_of_generated_outputs(heated):
    pane, coverage = heated.panes.automaton, heated.session.coverage
    heated.qtbot.mouseClick(pane.coverage_choice.buttons[CoverageSource.TESTS], LEFT)
    assert not heated.window.commands["automaton.lost_mass"].isChecked()
    assert not pane.scene.highlights.lost_states
    # so lost mass is that of the generated outputs, whatever was shown before
    heated.qtbot.mouseClick(pane.footer.coverage_button, LEFT)
    heated.window.commands["automaton.lost_mass"].trigger()
    assert pane.footer.coverage_button.isChecked()
    assert coverage.source is CoverageSource.GENERATED
    heated.wait(lambda: bool(pane.scene.highlights.lost_states))


def test_lost_mass_is_laid_over_states_and_edges(heated, tmp_path, monkeypatch):
    pane, coverage = heated.panes.automaton, heated.session.coverage
    assert not pane.scene.highlights.lost_states
    heated.qtbot.mouseClick(pane.heat_bar.buttons[CoverageMeasure.LOST], LEFT)
    assert heated.window.commands["automaton.lost_mass"].isChecked()
    found = coverage.shown[1]
    assert found.total.steps == found.total.known > 0
    # each step is at one edge, so the edges add up
    assert math.isclose(sum(lost.least for lost in found.lost.values()), found.total.least)
    assert pane.scene.highlights.lost_states.keys() == {0, *pane.scene.highlights.lost_states}
    assert pane.scene.highlights.lost
    assert not pane.scene.highlights.covered
    assert [text for _, text in pane.heat_bar.legend.entries][-1] == ui_text("timeline.fragment.unknown")
    assert all(text in pane.heat_bar.legend.accessibleDescription() for _, text in pane.heat_bar.legend.entries)
    # the editor marks rules and literals, and says how much
    editor = heated.panes.editor.edit
    marked = {one.cursor.selectedText() for one in editor.extraSelections()}
    assert {"root", "b", "y"} <= marked
    assert lost_text(found.rules[0].lost, coverage.measure, found.followed) in editor.tip_at(0)
    heated.window.commands["automaton.price"].trigger()
    assert pane.heat_bar.buttons[CoverageMeasure.PRICE].isChecked()
    assert not heated.window.commands["automaton.lost_mass"].isChecked()
    assert lost_text(found.rules[0].lost, CoverageMeasure.PRICE, found.followed) in editor.tip_at(0)
    assert pane.scene.highlights.lost_states
    heated.window.commands["automaton.lost_mass"].trigger()
    the_list_is_walked_through_by_keys(heated, found)
    an_output_of_many_seeds_opens_at_its_worst_step_and_counts_once(heated)
    lost_mass_of_test_strings_is_that_of_generated_outputs(heated)
    # a log
    log = written_log(tmp_path / "log.jsonl")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(log)], ""))
    heated.qtbot.mouseClick(pane.coverage_choice.buttons[CoverageSource.LOG], LEFT)
    heated.wait(lambda: coverage.source is CoverageSource.LOG and coverage.shown[1] is not None)
    found = coverage.shown[1]
    assert (coverage.log.rows, coverage.log.illegal, coverage.log.unread) == (3, 1, 0)
    assert ui_text("automaton.coverage.log_illegal", count=1) in pane.coverage_banner.detail_label.text()
    assert found.followed == 2
    assert found.unknown == 2
    first, second = sorted(found.lost.values(), key=lambda lost: -lost.least)
    assert (first.least, first.most, first.token, first.steps) == (pytest.approx(0.6), pytest.approx(0.75), b"q", 1)
    assert (second.least, second.most) == (pytest.approx(0), pytest.approx(0.25))
    assert None in pane.scene.highlights.lost.values()  # a bound from 0 is no level
    # another one, cancelled
    coverage.open_log((str(log),))
    assert pane.coverage_banner.text() == ui_text("automaton.coverage.waiting_log")
    heated.qtbot.mouseClick(pane.coverage_banner.button, LEFT)
    assert coverage.source is CoverageSource.TESTS
    assert not coverage.log_paths
    assert coverage.of(CoverageSource.LOG) == (-1, None)
