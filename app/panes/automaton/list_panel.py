"""A list below the drawing: transitions, paths, results of a search, notes. Its rows lead to states.

The current row is shown in the drawing at once; Return, or a double click, goes there. So a list can be walked through
with the arrow keys while the drawing follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QTableView,
    QToolButton,
    QVBoxLayout,
)

from app import theme
from app.catalogue import ui_text
from app.commands import set_tip
from app.theme.buttons import close_button, tool_button
from app.widgets.elided_label import ElidedLabel
from app.widgets.find_bar import CLOSE
from app.widgets.keyboard import delegate_focus

_SAMPLE_NAME = "/properties/address/pattern"


@dataclass(frozen=True, slots=True)
class ListRow:
    """A row.

    Attributes:
        text: what is shown.
        show: shows it in the drawing.
        go: goes there; None if showing is all.
    """

    text: str
    show: Callable[[], object]
    go: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class ListAction:
    """A button above the list, which acts on the current row.

    Attributes:
        label: its label.
        tip: what it does.
        run: called with the number of the row.
        name: the object name of the button.
    """

    label: str
    tip: str
    run: Callable[[int], object]
    name: str = ""


class ListPanel(QFrame):
    """Shows one list at a time.

    Attributes:
        title: what the list has.
        list: the rows.
        table: the rows of a list with columns, which is shown instead of `list`.
        buttons: the buttons of the actions.

    Signals:
        closed: the list was closed, or another one is shown instead.
    """

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.title = ElidedLabel(fills=True)
        self.list = QListWidget()
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setTabKeyNavigation(False)
        self.list.setMinimumHeight(3 * self.fontMetrics().height())
        self.table, self._no_rows = QTableView(), QStringListModel(self)
        self.table.setModel(self._no_rows)
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.setMinimumHeight(5 * self.fontMetrics().height())
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + theme.SPACE_S)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.hide()
        self._show_index: Callable[[QModelIndex], object] = lambda _index: None
        self._go_to_index: Callable[[QModelIndex], object] = lambda _index: None
        self.close_button = close_button(ui_text("common.button.close"), clicked=self.close_list)
        set_tip(self.close_button, ui_text("common.button.close"), CLOSE)
        self.buttons: list[QToolButton] = []
        self._rows: list[ListRow] = []
        self._bar = QHBoxLayout()
        self._bar.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_XS, 0)
        self._bar.setSpacing(theme.SPACE_XS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(self._bar)
        self._bar.addWidget(self.title, 1)
        self._bar.addWidget(self.close_button)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.table, 1)
        delegate_focus(self, self.list)
        self.list.currentRowChanged.connect(self._show_row)
        self.list.itemActivated.connect(lambda _item: self._go())
        self.table.activated.connect(self._go_to_activated)
        self.hide()

    def show_list(self, title: str, rows: Sequence[ListRow], actions: Sequence[ListAction] = ()) -> None:
        """Show a list instead of the current one; none of its rows is current.

        Args:
            title: what it has.
            rows: its rows.
            actions: what can be done with a row.
        """
        self._clear()
        self.set_title(title)
        self._add_buttons(actions)
        self.add_rows(rows)
        self.show()

    def _add_buttons(self, actions: Sequence[ListAction]) -> None:
        for action in actions:
            button = tool_button(action.label, action.tip, clicked=lambda _on=False, run=action.run: self._act(run))
            button.setObjectName(action.name)
            self._bar.insertWidget(self._bar.count() - 1, button)
            self.buttons.append(button)

    def show_table(
        self,
        title: str,
        model: QAbstractItemModel,
        sorted_by: int,
        show: Callable[[QModelIndex], object],
        go: Callable[[QModelIndex], object],
        actions: Sequence[ListAction] = (),
    ) -> None:
        """Show a table instead of the current list; the user sorts it by its titles.

        Args:
            title: what it has.
            model: its rows; it sorts itself.
            sorted_by: the column by which it is sorted at first, the largest first.
            show: shows a row in the drawing.
            go: goes there.
            actions: what can be done with a row.
        """
        self._clear()
        self.set_title(title)
        self._add_buttons(actions)
        self._show_index, self._go_to_index = show, go
        self.table.setModel(model)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(sorted_by, Qt.SortOrder.DescendingOrder)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        self.table.setColumnWidth(0, self.fontMetrics().horizontalAdvance(_SAMPLE_NAME) + 2 * theme.SPACE_M)
        header.setStretchLastSection(True)
        self.table.selectionModel().currentRowChanged.connect(lambda index, _before: self._show_current(index))
        self.list.hide()
        self.table.show()
        self.show()

    def set_title(self, text: str) -> None:
        """Show another title; it is also the name of the list for screen readers."""
        self.title.set_text(text)
        for view in (self.list, self.table):
            view.setAccessibleName(text)

    def add_rows(self, rows: Sequence[ListRow]) -> None:
        """Add rows at the end."""
        for row in rows:
            self._rows.append(row)
            item = QListWidgetItem(row.text)
            item.setToolTip("")
            self.list.addItem(item)
        for button in self.buttons:
            button.setEnabled(bool(self._rows))

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the rows."""
        return tuple(row.text for row in self._rows)

    def focus_list(self) -> None:
        """Set the focus to the list, and make its first row the current one if none is."""
        if not self.table.isHidden():
            self.table.setFocus()
            if not self.table.currentIndex().isValid():
                self.table.selectRow(0)
            return
        self.list.setFocus()
        if self.list.currentRow() < 0 and self._rows:
            self.list.setCurrentRow(0)

    def close_list(self) -> None:
        """Hide the list."""
        if not self.isHidden():
            self.hide()
            self._clear()
            self.closed.emit()

    def _clear(self) -> None:
        self._rows = []
        self.list.clear()
        self.list.show()
        self.table.hide()
        self.table.setModel(self._no_rows)
        for button in self.buttons:
            self._bar.removeWidget(button)
            button.deleteLater()
        self.buttons = []

    def _show_row(self, row: int) -> None:
        if 0 <= row < len(self._rows):
            self._rows[row].show()

    def _go_to_activated(self, index: QModelIndex) -> None:
        self._go_to_index(index)

    def _show_current(self, index: QModelIndex) -> None:
        if index.isValid():
            self._show_index(index)

    def _go(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._rows):
            found = self._rows[row]
            (found.go or found.show)()

    def _act(self, run: Callable[[int], object]) -> None:
        view = self.list if self.table.isHidden() else self.table
        if view.model().rowCount():
            run(max(0, view.currentIndex().row()))
