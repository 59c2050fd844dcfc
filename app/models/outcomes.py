"""The outputs of many seeds as a table that grows while they are generated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.catalogue import ui_text
from app.display_text import percent, shown
from app.theme.labels import plain_text
from engine.decoding.values import Finish, SampleOutcome

OUTCOME_ROLE = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class OutcomeColumn(IntEnum):
    """The columns of the table."""

    SEED = 0
    TEXT = 1
    TOKENS = 2
    LEAST_Z = 3
    FINISH = 4
    MATCH = 5


_SORT_KEYS: Final[Mapping[OutcomeColumn, Callable[[SampleOutcome], Any]]] = {
    OutcomeColumn.SEED: lambda one: one.seed,
    OutcomeColumn.TEXT: lambda one: one.text,
    OutcomeColumn.TOKENS: lambda one: one.tokens,
    OutcomeColumn.LEAST_Z: lambda one: math.inf if one.least_z is None else one.least_z,
    OutcomeColumn.FINISH: lambda one: finish_text(one.finish),
    OutcomeColumn.MATCH: lambda one: one.matches,
}


class OutcomeModel(QAbstractTableModel):
    """One row for each seed, sorted by any column; equal rows are in the order of the seeds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._outcomes: tuple[SampleOutcome, ...] = ()
        self._rows: list[SampleOutcome] = []
        self._sorting = OutcomeColumn.SEED, Qt.SortOrder.AscendingOrder

    def show_outcomes(self, outcomes: Sequence[SampleOutcome]) -> None:
        """Show outcomes; if they extend the current ones, rows are added and the view keeps its position."""
        before = len(self._outcomes)
        if before and len(outcomes) >= before and tuple(outcomes[:before]) == self._outcomes:
            if len(outcomes) > before:
                self.beginInsertRows(QModelIndex(), before, len(outcomes) - 1)
                self._outcomes = tuple(outcomes)
                self._rows += outcomes[before:]
                self.endInsertRows()
                self.sort(*self._sorting)
            return
        self.beginResetModel()
        self._outcomes = tuple(outcomes)
        self._rows = self._sorted()
        self.endResetModel()

    @property
    def outcomes(self) -> tuple[SampleOutcome, ...]:
        """Return the outcomes in the order of their seeds."""
        return self._outcomes

    def outcome(self, row: int) -> SampleOutcome:
        """Return the outcome in a row."""
        return self._rows[row]

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; the order is kept for later outcomes."""
        if not 0 <= column < len(OutcomeColumn):
            return
        self._sorting = OutcomeColumn(column), order
        rows = self._sorted()
        if rows == self._rows:
            return
        self.layoutAboutToBeChanged.emit()
        kept = [(index, self._rows[index.row()].seed) for index in self.persistentIndexList()]
        self._rows = rows
        row_of = {outcome.seed: row for row, outcome in enumerate(rows)}
        for index, seed in kept:
            self.changePersistentIndex(index, self.index(row_of[seed], index.column()))
        self.layoutChanged.emit()

    def _sorted(self) -> list[SampleOutcome]:
        column, order = self._sorting
        return sorted(self._outcomes, key=_SORT_KEYS[column], reverse=order is Qt.SortOrder.DescendingOrder)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of outputs so far."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(OutcomeColumn)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell, or the outcome itself for the delegate."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        outcome = self._rows[index.row()]
        column = OutcomeColumn(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _text(outcome, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_text(outcome.text) if column is OutcomeColumn.TEXT else None
            case _ if role == OUTCOME_ROLE:
                return outcome
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return column titles."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(OutcomeColumn):
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title(OutcomeColumn(section))
            case Qt.ItemDataRole.ToolTipRole:
                return plain_text(ui_text("models.outcomes.least_z_tip")) if section == OutcomeColumn.LEAST_Z else None
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(OutcomeColumn(section))
        return None


def summary(outcomes: Sequence[SampleOutcome]) -> str:
    """Return the outcomes in one line: "100 outputs · 97 finished · 97 match · 84 distinct"."""
    finished = sum(outcome.finish is Finish.STOP for outcome in outcomes)
    matching = sum(outcome.matches for outcome in outcomes)
    distinct = len({outcome.text for outcome in outcomes})
    return ui_text(
        "models.outcomes.summary", count=len(outcomes), finished=finished, matching=matching, distinct=distinct
    )


def title(column: OutcomeColumn) -> str:
    """Return the title of a column."""
    return ui_text(f"models.outcomes.column.{column.name.lower()}")


def finish_text(finish: Finish) -> str:
    """Return why an output ended, for its column."""
    return ui_text(f"models.outcomes.fragment.{finish.name.lower()}")


def match_text(*, matches: bool) -> str:
    """Return whether an output matches in full, for its column."""
    return ui_text("models.outcomes.match" if matches else "models.outcomes.no_match")


def _text(outcome: SampleOutcome, column: OutcomeColumn) -> str:
    match column:
        case OutcomeColumn.SEED:
            return str(outcome.seed)
        case OutcomeColumn.TEXT:
            return shown(outcome.text.encode()).replace("␣", " ")
        case OutcomeColumn.TOKENS:
            return f"{outcome.tokens:,}"
        case OutcomeColumn.LEAST_Z:
            if outcome.least_z is None or outcome.least_z_step is None:
                return "–"
            fields = {"mass": percent(outcome.least_z), "step": outcome.least_z_step + 1}
            return ui_text("models.outcomes.fragment.least_z", **fields)
        case OutcomeColumn.FINISH:
            return finish_text(outcome.finish)
        case OutcomeColumn.MATCH:
            return match_text(matches=outcome.matches)


def _alignment(column: OutcomeColumn) -> Qt.AlignmentFlag:
    right = column in (OutcomeColumn.SEED, OutcomeColumn.TOKENS, OutcomeColumn.LEAST_Z)
    return (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter
