"""The table of rules and keywords by heat."""

from __future__ import annotations

from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.models.heat import MOST_ROWS, HeatColumn, HeatModel, heat_rows
from engine.diagnosis.test_strings.values import (
    TEXT_END,
    Coverage,
    CoverageMeasure,
    CoverageSource,
    EdgeKey,
    LostMass,
    PartRow,
)
from engine.source import Span

PARTS = tuple(
    PartRow(
        Span(number, number + 1),
        f"part{number}",
        number,
        LostMass(2, 2, number / 10, number / 10, b"x", 0.5, number / 45.33, number / 22.66),
    )
    for number in range(1, MOST_ROWS + 5)
)
ENDS = {EdgeKey(0, 3, TEXT_END): LostMass(1, 1, 99.0, 99.5), EdgeKey(0, 4, TEXT_END): LostMass(2)}
LOST = Coverage(parts=PARTS, followed=9, lost={EdgeKey(0, 1, 2): LostMass(5, 5, 1.0, 1.0), **ENDS})
ARGUMENTS = LOST, CoverageSource.GENERATED, CoverageMeasure.LOST


def test_the_table_has_all_rows_and_one_for_the_end_and_the_editor_only_the_hottest() -> None:
    rows = heat_rows(*ARGUMENTS, has_all=True)
    assert len(rows) == len(PARTS) + 1
    assert rows[-1].is_end
    assert (rows[-1].texts, rows[-1].lost.least, rows[-1].lost.steps) == (3, 99.0, 3)
    assert heat_rows(*ARGUMENTS) == rows[:MOST_ROWS]
    assert not any(row.is_end for row in heat_rows(Coverage(parts=PARTS), *ARGUMENTS[1:], has_all=True))


def test_each_column_is_sorted_by_its_number(qapp) -> None:
    model = HeatModel()
    model.show_rows(heat_rows(*ARGUMENTS, has_all=True))

    def first(column: HeatColumn, order: Qt.SortOrder = Qt.SortOrder.DescendingOrder) -> str:
        model.sort(column, order)
        return str(model.index(0, HeatColumn.PART).data())

    end = ui_text("automaton.heat.end")
    assert first(HeatColumn.TOTAL) == end
    assert model.index(0, HeatColumn.TOTAL).data() == ui_text("automaton.heat.tokens", value="99.00–99.50")
    assert first(HeatColumn.STEPS) == end
    assert first(HeatColumn.PRICE) == PARTS[-1].name
    assert model.index(0, HeatColumn.PRICE).data() == "0.50–1.00"
    assert first(HeatColumn.TEXTS) == PARTS[-1].name
    assert first(HeatColumn.TEXTS, Qt.SortOrder.AscendingOrder) == PARTS[0].name
    assert first(HeatColumn.PART, Qt.SortOrder.AscendingOrder) == end
