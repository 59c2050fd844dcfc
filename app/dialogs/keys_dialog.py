"""The list of all commands with their keys, filtered by typing.

Rejected: a message box with a table, which is as high as its table: with a hundred commands, three screens.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialogButtonBox,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import Commands, menu_title, native
from app.theme.labels import plain_text
from app.widgets.filter_dialog import FilterDialog

_COLUMNS = ("menu", "command", "keys", "tip")


class KeysDialog(FilterDialog):
    """Lists commands; the text field has the focus, and the arrow keys move in the table."""

    def __init__(self, commands: Commands, parent: QWidget | None = None) -> None:
        self.table = QTableWidget(0, len(_COLUMNS))
        hint = ui_text("dialogs.keys.hint")
        super().__init__(ui_text("commands.help.keys.title"), self.table, hint, parent=parent)
        self.resize(min(1200, 150 * QFontMetrics(theme.ui_font()).averageCharWidth()), 560)
        self.table.setAccessibleName(ui_text("dialogs.keys.table"))
        self.table.setHorizontalHeaderLabels([ui_text(f"dialogs.keys.column.{name}") for name in _COLUMNS])
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

    def _fill(self, commands: Commands) -> None:
        for command, action in commands:
            row = self.table.rowCount()
            self.table.insertRow(row)
            keys = " · ".join(native(keys) for keys in action.shortcuts())
            for column, text in enumerate((menu_title(command.menu), command.title.rstrip("…"), keys, command.tip)):
                item = QTableWidgetItem(text)
                item.setToolTip(plain_text(text))
                self.table.setItem(row, column, item)
        self.table.resizeColumnsToContents()
        self.table.horizontalHeader().setSectionResizeMode(len(_COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
        self.table.selectRow(0)

    def apply_filter(self, text: str) -> None:
        """Show the commands that have all words of a text, and select the first one."""
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
