"""The tokens that may come at one state, as a table: one row for each place that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.display_text import percent_column
from app.theme.plain_text import plain_text

COLUMNS = ("Leads to", "Tokens", "Model gives", "Examples")
LEADS_TO, TOKENS, MASS, EXAMPLES = range(len(COLUMNS))
_HELP = (
    "The state behind these tokens",
    "How many tokens of the vocabulary lead there",
    "The model's probability of all of them together, before the mask",
    "Some of them, the most probable first",
)

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class TokenTarget(Protocol):
    """What a row says."""

    @property
    def name(self) -> str:
        """How the place is called."""

    @property
    def count(self) -> int:
        """How many tokens lead there."""

    @property
    def mass(self) -> float | None:
        """What the model gives to them; None where no model was asked."""

    @property
    def examples(self) -> tuple[str, ...]:
        """Some of them."""


class TokenGroupsModel(QAbstractTableModel):
    """The places that tokens lead to from one state."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._places: Sequence[TokenTarget] = ()

    def show_places(self, places: Sequence[TokenTarget]) -> None:
        """Show other places."""
        self.beginResetModel()
        self._places = places
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One row for each place."""
        return 0 if parent.isValid() else len(self._places)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """The columns are fixed."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Column titles and what they mean."""
        if orientation == Qt.Orientation.Horizontal and 0 <= section < len(COLUMNS):
            if role == Qt.ItemDataRole.DisplayRole:
                return COLUMNS[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return _HELP[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts; numbers stand at the right."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in (TOKENS, MASS):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_text(self._text(self._places[index.row()], index.column()))
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return self._text(self._places[index.row()], index.column())
        return None

    def _text(self, place: TokenTarget, column: int) -> str:
        if column == LEADS_TO:
            return place.name
        if column == TOKENS:
            return f"{place.count:,}"
        if column == MASS:
            return "" if place.mass is None else percent_column(place.mass)
        return "  ".join(place.examples) + ("  …" if place.count > len(place.examples) else "")
