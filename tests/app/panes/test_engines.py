"""The pane that compares engines: driven by mouse and keys."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QPushButton, QTableView

from app.catalogue import ui_text
from app.panes.engines.pane import CAUSE, TEXT, EnginesPane
from app.workers.protocol import Progress
from app.workers.requests.engines import EngineList
from tests.app.snapshots.engine_states import ANSWER, LISTED, REQUEST

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def pane(qtbot):
    pane = EnginesPane()
    qtbot.addWidget(pane)
    pane.resize(1_100, 300)
    pane.show()
    pane.show_engines(LISTED)
    return pane


def button(pane):
    return pane.findChild(QPushButton, "engines-compare")


def test_it_asks_for_engines_when_it_is_shown(qtbot):
    pane = EnginesPane()
    qtbot.addWidget(pane)
    with qtbot.waitSignal(pane.listed):
        pane.show()
    assert not button(pane).isEnabled()


def test_two_engines_are_compared(qtbot, pane):
    with qtbot.waitSignal(pane.wanted) as wanted:
        qtbot.mouseClick(button(pane), LEFT)
    assert wanted.args == ["turnstile", ("xgrammar",)]
    pane.show_progress(Progress("checking", 10, 100))
    assert pane.bar.isVisible()
    assert pane.bar.value() == 10
    with qtbot.waitSignal(pane.cancelled):
        qtbot.mouseClick(button(pane), LEFT)
    assert not pane.bar.isVisible()


def test_one_engine_is_compared_with_all_others(qtbot, pane):
    first, second = pane.findChild(QComboBox, "engine-first"), pane.findChild(QComboBox, "engine-second")
    qtbot.keyClick(first, Qt.Key.Key_Down)
    assert first.currentText() == "xgrammar"
    assert [second.itemText(row) for row in range(second.count())][1:] == ["turnstile", "llguidance"]
    qtbot.keyClick(second, Qt.Key.Key_Up)
    with qtbot.waitSignal(pane.wanted) as wanted:
        qtbot.mouseClick(button(pane), LEFT)
    assert wanted.args == ["xgrammar", ("turnstile", "llguidance")]


def test_a_click_on_a_cause_shows_its_place_and_its_text_becomes_a_test(qtbot, pane, qtmodeltester):
    pane.show_answer(ANSWER)
    qtmodeltester.check(pane.model)
    table = pane.findChild(QTableView, "engine-differences")
    with qtbot.waitSignal(pane.span_wanted) as wanted:
        qtbot.mouseClick(table.viewport(), LEFT, pos=table.visualRect(pane.model.index(0, CAUSE)).center())
    assert wanted.args == [ANSWER.differences[0].span]
    with qtbot.waitSignal(pane.test_wanted) as kept:
        qtbot.mouseClick(pane.test_button, LEFT)
    assert kept.args == ['{"code":"AAAAA"}', False]
    qtbot.mouseClick(table.viewport(), LEFT, pos=table.visualRect(pane.model.index(2, TEXT)).center())
    assert not pane.test_button.isEnabled()


def test_measurements_are_beside_one_another(pane):
    pane.show_answer(ANSWER)
    assert "turnstile 1.4 ms, xgrammar 4.8 ms" in pane.chart.accessibleName()
    assert pane.chart.isVisible()
    pane.forget()
    assert not pane.chart.isVisible()


def test_an_edit_makes_the_differences_those_of_an_earlier_text(qtbot, pane):
    pane.set_grammar("one")
    qtbot.mouseClick(button(pane), LEFT)
    pane.show_answer(ANSWER)
    pane.set_grammar("two")
    assert pane.summary.text() == ui_text("engines.stale")


def test_engines_that_are_not_installed_have_their_command(pane):
    assert "pip install outlines-core" in pane.absent.text()
    pane.show_engines(EngineList("regex"))
    assert not button(pane).isEnabled()
    assert pane.hint.text() == ui_text("engines.none")


def test_equal_engines_and_errors_are_stated(pane):
    pane.show_answer(replace(ANSWER, differences=()))
    assert pane.hint.text() == ui_text("engines.equal", count=1_204)
    pane.show_answer(replace(ANSWER, request=REQUEST, error="No"))
    assert pane.hint.text() == "No"
