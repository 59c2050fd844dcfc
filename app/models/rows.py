"""A table of rows with fixed columns: what its models share."""

from __future__ import annotations

from typing import Any, ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


def rest_of_row(index: Index) -> str:
    """What stands in the other columns of a cell's row, each behind its title, for who hears one cell at a time."""
    model, told = index.model(), []
    for column in range(model.columnCount()):
        text = model.index(index.row(), column).data()
        if column != index.column() and isinstance(text, str) and text.strip():
            title = model.headerData(column, Qt.Orientation.Horizontal)
            told.append(f"{title} {text}".strip() if isinstance(title, str) else text)
    return ", ".join(told)


class RowsModel(QAbstractTableModel):
    """Shows rows, and decides nothing; a subclass says what each cell shows.

    Attributes:
        titles, tips: of the columns.
        numbers: the columns that stand at the right.
        rows: what is shown.
    """

    titles: ClassVar[tuple[str, ...]]
    tips: ClassVar[tuple[str, ...]]
    numbers: ClassVar[frozenset[int]]

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Any, ...] = ()

    def show_rows(self, rows: tuple[Any, ...]) -> None:
        """Show others."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One for each row."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Always the same."""
        return 0 if parent.isValid() else len(self.titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Titles."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.titles):
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.titles[section]
            case Qt.ItemDataRole.ToolTipRole:
                return self.tips[section]
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.alignment(section)
        return None

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """How a column stands."""
        side = Qt.AlignmentFlag.AlignRight if column in self.numbers else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
