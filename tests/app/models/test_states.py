"""The automaton as a table."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.models.states import ACCEPTS, HERE, LEADS_TO, MARKS, READS, STATE, StatesModel
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.labels import label
from engine.source import SourceText, Span

SOURCE = SourceText("[a-c].")
DFA = ByteDfa(
    0,
    (DfaState(0, False, (Span(0, 5),)), DfaState(1, False, (Span(5, 6),)), DfaState(2, True)),
    (DfaEdge(0, 1, ((97, 99),)), DfaEdge(1, 1, ((48, 57),)), DfaEdge(1, 2, ((46, 46),))),
    frozenset({2}),
)


def model_of(source: SourceText | None = SOURCE) -> StatesModel:
    model = StatesModel()
    model.show_dfa(DFA, lambda edge: label(edge.ranges), source)
    return model


def row(model: StatesModel, state: int) -> list[str]:
    return [model.index(state, column).data() for column in (STATE, HERE, ACCEPTS, LEADS_TO, READS)]


def test_a_row_tells_a_state() -> None:
    model = model_of()
    assert row(model, 0) == [ui_text("automaton.states.start", name="0"), "", "", "a-c → 1", "[a-c]"]
    assert row(model, 1) == ["1", "", "", "0-9 → 1 ,  “.” → 2", "."]
    assert row(model, 2) == ["2", "", mark("accepts"), "…", ""]


def test_without_a_source_places_are_offsets() -> None:
    assert row(model_of(None), 0)[READS] == "0-5"


def test_live_states_are_marked_and_only_they_change(qtbot: QtBot) -> None:
    model = model_of()
    changed: list[int] = []
    model.dataChanged.connect(lambda first, _last: changed.append(first.row()))
    model.set_live({1})
    model.set_live({1, 2})
    assert changed == [1, 2]
    assert row(model, 1)[HERE] == mark("here")


def mark(name: str) -> str:
    return ui_text(f"automaton.states.mark.{name}")


def marks(model: StatesModel) -> list[str]:
    return [model.index(state, MARKS).data() for state in range(model.rowCount())]


def test_breakpoints_and_coverage_are_marked_and_taken_back(qtbot: QtBot) -> None:
    model = model_of()
    changed: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last: changed.append((first.row(), last.row())))
    model.set_breakpoints({0: True, 2: False})
    assert marks(model) == [mark("breakpoint"), "", mark("breakpoint_off")]
    assert changed == [(0, 0), (2, 2)]
    model.set_breakpoints({2: True})
    assert changed[2:] == [(0, 0), (2, 2)]
    uncovered = mark("not_covered")
    model.set_heat({0: "used", 1: uncovered, 2: uncovered})
    assert marks(model) == ["used", uncovered, f"{mark('breakpoint')} · {uncovered}"]
    model.set_heat({})
    model.set_breakpoints({})
    assert marks(model) == ["", "", ""]


def test_tokens_stand_behind_the_edge_that_they_take(qtbot: QtBot) -> None:
    model = model_of()
    model.set_tokens({(1, 2): "3 · 4.0%", (9, 9): "none"})
    assert model.index(1, LEADS_TO).data() == "0-9 → 1 ,  “.” → 2 (3 · 4.0%)"
    model.set_tokens({})
    assert model.index(1, LEADS_TO).data() == "0-9 → 1 ,  “.” → 2"


def test_many_changes_are_told_in_one_go(qtbot: QtBot) -> None:
    model, told = StatesModel(), []
    model.show_dfa(ByteDfa(0, tuple(DfaState(i, False) for i in range(50)), ()), lambda _edge: "", None)
    model.dataChanged.connect(lambda first, last: told.append((first.row(), last.row())))
    model.set_heat({3: "used"})
    assert told == [(0, 49)]


def test_titles_say_what_they_mean() -> None:
    model = model_of()
    for column in range(model.columnCount()):
        assert model.headerData(column, Qt.Orientation.Horizontal)
        assert model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)


def test_rules_have_titles_of_their_own_and_no_column_without_a_meaning() -> None:
    model = model_of()
    assert model.columns_in_use == {STATE, HERE, ACCEPTS, LEADS_TO, READS}
    model.set_breakpoints({1: True})
    assert MARKS in model.columns_in_use
    names = ("root", "expr", "term")
    calls = ByteDfa(0, tuple(DfaState(i, False) for i in range(3)), (DfaEdge(0, 1, ()), DfaEdge(0, 2, ())))
    model.show_dfa(calls, lambda _edge: "", None, names.__getitem__, "rule")
    assert model.columns_in_use == {STATE, HERE, LEADS_TO}
    titles = [model.headerData(column, Qt.Orientation.Horizontal) for column in (STATE, LEADS_TO)]
    assert titles == ["Rule", "Calls"]
    assert model.index(0, LEADS_TO).data() == "expr ,  term"


@pytest.mark.usefixtures("qapp")
def test_the_model_keeps_qts_rules(qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(StatesModel())
    qtmodeltester.check(model_of())
