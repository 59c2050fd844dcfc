"""A base class for tables with fixed columns."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.theme.labels import plain_text

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


def rest_of_row(index: Index) -> str:
    """Return the text of the other cells of a row with their titles, for screen readers that read single cells."""
    model, parts = index.model(), []
    for column in range(model.columnCount()):
        text = index.sibling(index.row(), column).data()
        if column != index.column() and isinstance(text, str) and text.strip():
            title = model.headerData(column, Qt.Orientation.Horizontal)
            parts.append(f"{title} {text}".strip() if isinstance(title, str) else text)
    return ", ".join(parts)


class RowsModel(QAbstractTableModel):
    """A table model with fixed columns; subclasses return the text of a cell, and what else distinguishes it.

    Attributes:
        titles, tips: of the columns.
        numbers: the right-aligned columns.
        rows: the rows shown.
    """

    titles: tuple[str, ...]
    tips: tuple[str, ...]
    numbers: frozenset[int]

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Any, ...] = ()

    def show_rows(self, rows: tuple[Any, ...]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return column titles."""
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

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text, the tool tip and the alignment of a cell, and what `look` returns for other roles."""
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_text(self.tip(row, column))
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.alignment(column)
        return self.look(row, column, role)

    def text(self, row: Any, column: int) -> str:
        """Return the text of a cell."""
        raise NotImplementedError

    def tip(self, row: Any, column: int) -> str:
        """Return the tool tip of a cell; by default its text, which may be cut."""
        return self.text(row, column)

    def look(self, row: Any, column: int, role: int) -> object:
        """Return the font, colour, icon or other data of a cell; None for the default.

        Args:
            row: one of `rows`.
            column: the index of the column.
            role: one of `Qt.ItemDataRole`, but not the text, the tool tip or the alignment.
        """
        return None

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """Return the alignment of a column."""
        side = Qt.AlignmentFlag.AlignRight if column in self.numbers else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
