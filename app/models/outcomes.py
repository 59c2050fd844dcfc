"""The outputs of many seeds as a table that grows while they are generated."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

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


class OutcomeModel(QAbstractTableModel):
    """One row for each seed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._outcomes: tuple[SampleOutcome, ...] = ()

    def show_outcomes(self, outcomes: Sequence[SampleOutcome]) -> None:
        """Show outcomes; if they extend the current ones, rows are added and the view keeps its position."""
        before = len(self._outcomes)
        if before and len(outcomes) >= before and tuple(outcomes[:before]) == self._outcomes:
            if len(outcomes) > before:
                self.beginInsertRows(QModelIndex(), before, len(outcomes) - 1)
                self._outcomes = tuple(outcomes)
                self.endInsertRows()
            return
        self.beginResetModel()
        self._outcomes = tuple(outcomes)
        self.endResetModel()

    @property
    def outcomes(self) -> tuple[SampleOutcome, ...]:
        """Return the outcomes shown."""
        return self._outcomes

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of outputs so far."""
        return 0 if parent.isValid() else len(self._outcomes)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(OutcomeColumn)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell, or the outcome itself for the delegate."""
        if not index.isValid() or index.row() >= len(self._outcomes):
            return None
        outcome = self._outcomes[index.row()]
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
            return "–" if outcome.least_z is None else percent(outcome.least_z)
        case OutcomeColumn.FINISH:
            return finish_text(outcome.finish)
        case OutcomeColumn.MATCH:
            return match_text(matches=outcome.matches)


def _alignment(column: OutcomeColumn) -> Qt.AlignmentFlag:
    right = column in (OutcomeColumn.SEED, OutcomeColumn.TOKENS, OutcomeColumn.LEAST_Z)
    return (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter
