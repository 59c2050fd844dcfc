"""The list of all commands with their keys, filtered by typing.

Rejected: a message box with a table, which is as high as its table: with a hundred commands, three screens.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import Actions, native
from app.theme.plain_text import plain_text

_COLUMNS = ("Menu", "Command", "Keys", "What it does")
_NAVIGATION_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class KeysDialog(QDialog):
    """Lists commands; the text field has the focus, and the arrow keys move in the table."""

    def __init__(self, commands: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self.resize(min(1200, 150 * QFontMetrics(theme.ui_font()).averageCharWidth()), 560)
        self.field = QLineEdit()
        self.field.setPlaceholderText("Filter by a command, a menu or a key, such as step or ctrl+k")
        self.field.setAccessibleName("Filter")
        self.field.setClearButtonEnabled(True)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._filter)
        self.table = QTableWidget(0, len(_COLUMNS))
        self.table.setAccessibleName("Commands and their keys")
        self.table.setHorizontalHeaderLabels(_COLUMNS)
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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.field)
        layout.addWidget(self.table, 1)
        layout.addWidget(buttons)
        self._fill(commands)

    def _fill(self, commands: Actions) -> None:
        for command, action in commands:
            row = self.table.rowCount()
            self.table.insertRow(row)
            keys = " or ".join(native(keys) for keys in action.shortcuts())
            for column, text in enumerate((command.menu, command.text.rstrip("…"), keys, command.tip)):
                item = QTableWidgetItem(text)
                item.setToolTip(plain_text(text))
                self.table.setItem(row, column, item)
        self.table.resizeColumnsToContents()
        self.table.horizontalHeader().setSectionResizeMode(len(_COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
        self.table.selectRow(0)

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        first = -1
        for row in range(self.table.rowCount()):
            row_text = " ".join(self.text_at(row, column) for column in range(len(_COLUMNS))).casefold()
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

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Forward the arrow keys of the field to the table."""
        if (
            watched is self.field
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in _NAVIGATION_KEYS
        ):
            self.table.event(event)
            return True
        return super().eventFilter(watched, event)
