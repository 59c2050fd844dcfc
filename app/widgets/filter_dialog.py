"""A dialog that lists rows and filters them by what is typed.

The field has the focus: typing filters, the arrow keys move through the rows that are left, Return takes one.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QListView,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.theme.labels import plain_text

_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_PAGES = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


class FilterDialog(QDialog):
    """Filter the rows of a view; subclasses lay the field and the view out, and fill the view in `apply_filter`.

    Args:
        title: the title of the window.
        view: shows the rows; rows that it hides are skipped.
        placeholder: the hint in the empty field.
        field_name: the name of the field for screen readers; by default "Filter".
        parent: as of any dialog.

    Attributes:
        field: what is typed.
    """

    def __init__(
        self,
        title: str,
        view: QListView | QTableView,
        placeholder: str,
        *,
        field_name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._view = view
        self.field = QLineEdit(placeholderText=placeholder, clearButtonEnabled=True)
        self.field.setAccessibleName(field_name or ui_text("widgets.filter.field"))
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self.apply_filter)

    def apply_filter(self, text: str) -> None:
        """Show the rows that match a text, and select one of them.

        Raises:
            NotImplementedError: a subclass must implement it.
        """
        raise NotImplementedError

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move through the rows with the arrow keys of the field, and accept the dialog with Return."""
        if watched is not self.field or not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.accept()
        elif key in _STEPS or key in _PAGES:
            self._move(key)
        else:
            return False
        return True

    def _move(self, key: Qt.Key) -> None:
        """Select another row: the next one, around the end, or one a page further."""
        model = self._view.model()
        rows = [row for row in range(model.rowCount()) if not self._view.isRowHidden(row)]
        if not rows:
            return
        current = self._view.currentIndex().row()
        number = rows.index(current) if current in rows else 0
        if key in _STEPS:
            number = (number + _STEPS[key]) % len(rows)
        else:
            height = self._view.visualRect(model.index(rows[number], 0)).height()
            page = max(1, self._view.viewport().height() // max(1, height))
            number = min(max(number + page * _PAGES[key], 0), len(rows) - 1)
        self._view.setCurrentIndex(model.index(rows[number], 0))


class FilterTableDialog(FilterDialog):
    """Show the rows of a table that have all words of the field.

    Args:
        title: the title of the window.
        placeholder: the hint in the empty field.
        name: the name of the table for screen readers.
        columns: the titles of the columns.
        parent: as of any dialog.

    Attributes:
        table: the rows.
        content: the layout of the table, which has room for more below it.
    """

    def __init__(
        self, title: str, placeholder: str, name: str, columns: Sequence[str], parent: QWidget | None = None
    ) -> None:
        self.table = QTableWidget(0, len(columns))
        super().__init__(title, self.table, placeholder, parent=parent)
        self.resize(min(1200, 150 * QFontMetrics(theme.ui_font()).averageCharWidth()), 560)
        self.table.setAccessibleName(name)
        self.table.setHorizontalHeaderLabels(list(columns))
        self.table.verticalHeader().hide()
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self.content = QVBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.field)
        layout.addLayout(self.content, 1)
        self.content.addWidget(self.table, 1)
        layout.addWidget(buttons)

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Show rows, each with a text for each column."""
        self.table.setRowCount(len(rows))
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(plain_text(text))
                self.table.setItem(row, column, item)
        self.table.resizeColumnsToContents()
        last = self.table.columnCount() - 1
        self.table.horizontalHeader().setSectionResizeMode(last, QHeaderView.ResizeMode.Stretch)
        self.table.selectRow(0)

    def apply_filter(self, text: str) -> None:
        """Show the rows that have all words of a text, and select the first one."""
        words = text.casefold().split()
        first = -1
        for row in range(self.table.rowCount()):
            row_text = " ".join(self.text_at(row, column) for column in range(self.table.columnCount())).casefold()
            is_shown = all(word in row_text for word in words)
            self.table.setRowHidden(row, not is_shown)
            if is_shown and first < 0:
                first = row
        if first >= 0:
            self.table.selectRow(first)

    def text_at(self, row: int, column: int) -> str:
        """Return the text of a cell."""
        item = self.table.item(row, column)
        return item.text() if item is not None else ""
