"""The problems pane, with real keys and clicks."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.display_text import unmarked
from app.panes.problems.pane import FIX, HINT, LOCATION, MESSAGE, SEVERITY, ProblemsModel, ProblemsPane
from engine.source import Diagnostic, Severity, SourceText, Span

SOURCE = SourceText("ab\n(c")
FINDINGS = (
    Diagnostic("later", Severity.ERROR, Span(3, 4), "This group is never closed", "Add `)`"),
    Diagnostic("sooner", Severity.WARNING, Span(1, 2), "This can never match"),
)


@pytest.fixture
def pane(qtbot: QtBot) -> ProblemsPane:
    pane = ProblemsPane()
    qtbot.addWidget(pane)
    pane.resize(700, 200)
    pane.show()
    qtbot.waitExposed(pane)
    return pane


def row(pane: ProblemsPane, number: int) -> list[str]:
    return [pane.model.index(number, column).data() for column in (SEVERITY, LOCATION, MESSAGE, HINT)]


def test_findings_are_listed_in_source_order(pane: ProblemsPane) -> None:
    pane.show_diagnostics(FINDINGS, SOURCE)
    assert row(pane, 0) == ["Warning", "1:2", "This can never match", ""]
    assert row(pane, 1) == ["Error", "2:1", "This group is never closed", "Add “)”"]
    assert pane.model.index(0, SEVERITY).data(Qt.ItemDataRole.DecorationRole) is not None
    assert "sooner" in pane.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_no_findings_are_said(pane: ProblemsPane) -> None:
    assert pane.is_empty
    pane.show_diagnostics(FINDINGS, SOURCE)
    assert not pane.is_empty
    assert pane.table.isVisible()
    pane.show_diagnostics((), SOURCE)
    assert pane.is_empty
    assert not pane.table.isVisible()


def test_hints_alone_do_not_press(pane: ProblemsPane) -> None:
    assert not pane.is_pressing
    pane.show_diagnostics((Diagnostic("note", Severity.HINT, Span(0, 1), "Others read this otherwise"),), SOURCE)
    assert not pane.is_pressing
    pane.show_diagnostics(FINDINGS[1:], SOURCE)
    assert pane.is_pressing


def test_a_click_goes_there(pane: ProblemsPane, qtbot: QtBot) -> None:
    pane.show_diagnostics(FINDINGS, SOURCE)
    place = pane.table.visualRect(pane.model.index(1, MESSAGE)).center()
    with qtbot.waitSignal(pane.activated) as told:
        qtbot.mouseClick(pane.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert told.args == [Span(3, 4)]


def test_return_goes_there(pane: ProblemsPane, qtbot: QtBot) -> None:
    pane.show_diagnostics(FINDINGS, SOURCE)
    pane.table.setCurrentIndex(pane.model.index(0, MESSAGE))
    with qtbot.waitSignal(pane.activated) as told:
        qtbot.keyClick(pane.table, Qt.Key.Key_Return)
    assert told.args == [Span(1, 2)]


def test_next_goes_round(pane: ProblemsPane) -> None:
    told: list[Span] = []
    pane.activated.connect(told.append)
    pane.go_to_next()
    pane.show_diagnostics(FINDINGS, SOURCE)
    for _ in range(3):
        pane.go_to_next()
    assert told == [Span(1, 2), Span(3, 4), Span(1, 2)]


@pytest.mark.usefixtures("qapp")
def test_the_model_keeps_qts_rules(qtmodeltester: ModelTester) -> None:
    model = ProblemsModel()
    qtmodeltester.check(model)
    model.show(FINDINGS, SOURCE)
    qtmodeltester.check(model)


def test_code_in_a_message_stands_in_quotation_marks():
    assert unmarked("`a-z` or ``a`b`` may follow") == "“a-z” or “a`b” may follow"


def test_a_fix_is_offered_and_asked_for(pane: ProblemsPane, qtbot: QtBot) -> None:
    source = SourceText('root = "a"')
    wrong = Diagnostic("gbnf-no-definition", Severity.ERROR, Span(5, 6), "No `::=` here")
    pane.show_diagnostics((wrong, *FINDINGS), source)
    row = next(row for row in range(3) if pane.model.finding(row) == wrong)
    assert pane.model.index(row, FIX).data() == unmarked(ui_text("fixes.replace", new="::="))
    assert [pane.model.index(other, FIX).data() for other in range(3) if other != row] == ["", ""]
    place = pane.table.visualRect(pane.model.index(row, FIX)).center()
    with qtbot.waitSignal(pane.fix_wanted) as told:
        qtbot.mouseClick(pane.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert told.args == [wrong]
    with qtbot.waitSignal(pane.fix_wanted) as told:
        pane.fix_current()
    assert told.args == [wrong]
