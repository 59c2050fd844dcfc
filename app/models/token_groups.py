"""The tokens that are allowed at one state, as a table: one row for each target state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.display_text import percent_column
from app.theme.labels import plain_text

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


class TokenRow(Protocol):
    """The data of a row."""

    @property
    def name(self) -> str:
        """Return the name of the target state."""

    @property
    def count(self) -> int:
        """Return the number of tokens that lead there."""

    @property
    def mass(self) -> float | None:
        """Return their total probability; None if no model was used."""

    @property
    def examples(self) -> tuple[str, ...]:
        """Return some of them."""


class TokenGroupsModel(QAbstractTableModel):
    """The target states of tokens from one state."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._targets: Sequence[TokenRow] = ()

    def show_targets(self, targets: Sequence[TokenRow]) -> None:
        """Show other target states."""
        self.beginResetModel()
        self._targets = targets
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of target states."""
        return 0 if parent.isValid() else len(self._targets)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return column titles and their tips."""
        if orientation == Qt.Orientation.Horizontal and 0 <= section < len(COLUMNS):
            if role == Qt.ItemDataRole.DisplayRole:
                return COLUMNS[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return _HELP[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return texts and alignments; numbers are right-aligned."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in (TOKENS, MASS):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_text(self._text(self._targets[index.row()], index.column()))
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return self._text(self._targets[index.row()], index.column())
        return None

    def _text(self, target: TokenRow, column: int) -> str:
        if column == LEADS_TO:
            return target.name
        if column == TOKENS:
            return f"{target.count:,}"
        if column == MASS:
            return "" if target.mass is None else percent_column(target.mass)
        return "  ".join(target.examples) + ("  …" if target.count > len(target.examples) else "")
