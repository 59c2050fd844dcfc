"""The list of breakpoints of a document, with switches, and navigation to their positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import keys_of, local_key, set_tip
from app.theme.buttons import tool_button
from app.theme.labels import Label
from app.widgets.keyboard import delegate_focus
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_COLUMNS = ("enabled", "element", "kind")
ON, WHAT, KIND = range(len(_COLUMNS))


class BreakpointsModel(QAbstractTableModel):
    """One row for each breakpoint, with a check box.

    Signals:
        switched(row): the user toggled one.
    """

    switched = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Breakpoint, ...] = ()

    def show_breakpoints(self, rows: tuple[Breakpoint, ...]) -> None:
        """Show breakpoints."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @property
    def rows(self) -> tuple[Breakpoint, ...]:
        """Return the breakpoints shown."""
        return self._rows

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of breakpoints."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return titles."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(_COLUMNS):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return ui_text(f"breakpoints.pane.column.{_COLUMNS[section]}") if section != ON else ""

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags; the first column has a check box."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.isValid() and index.column() == ON else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return texts, and the check state."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.CheckStateRole if index.column() == ON:
                return Qt.CheckState.Checked if row.enabled else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.DisplayRole:
                return ("", element_text(row), _kind_text(row))[index.column()]
            case Qt.ItemDataRole.AccessibleTextRole:
                key = "enabled" if row.enabled else "disabled"
                return ui_text(f"breakpoints.pane.{key}", breakpoint=f"{element_text(row)}, {_kind_text(row)}")
            case Qt.ItemDataRole.ForegroundRole if not row.enabled:
                return theme.colour(theme.Role.DISABLED)
            case Qt.ItemDataRole.FontRole if index.column() == WHAT:
                return theme.mono_font()
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Toggle the check box: the owner of the breakpoints changes them, and shows them again."""
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        self.switched.emit(index.row())
        return True


class BreakpointsPane(QFrame):
    """Lists breakpoints.

    Signals:
        changed(breakpoints): the user toggled or removed some.
        activated(Breakpoint): show its position.
        add_wanted(): set one at the cursor.
    """

    changed = Signal(tuple)
    activated = Signal(Breakpoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.model = BreakpointsModel(self)
        self.table = _Table(self.model, toggle=self._switch, remove=self._remove_selected, go_to=self._activate)
        self.add = tool_button(ui_text("breakpoints.pane.add.label"), role="outlined")
        self.remove = tool_button(ui_text("common.button.remove"), role="outlined", clicked=self._remove_selected)
        set_tip(self.add, ui_text("breakpoints.pane.add.tip"), "run.breakpoint")
        set_tip(self.remove, ui_text("breakpoints.pane.remove.tip"), local_key("breakpoints.remove", "Del"))
        self.clear = tool_button(
            ui_text("breakpoints.pane.remove_all.label"),
            ui_text("breakpoints.pane.remove_all.tip"),
            role="outlined",
            clicked=lambda: self.changed.emit(()),
        )
        self.empty_label = Label(ui_text("breakpoints.pane.empty", keys=keys_of("run.breakpoint")))
        self.empty_label.setProperty("role", "muted")
        self.empty_label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty_label.setWordWrap(True)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.empty_label)
        self._pages.addWidget(self.table)
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        bar.setSpacing(theme.SPACE_XS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(bar)
        for button in (self.add, self.remove, self.clear):
            bar.addWidget(button)
        bar.addStretch(1)
        layout.addWidget(self._pages, 1)
        delegate_focus(self, self.table, self.add)
        self._connect()
        self.show_breakpoints(())

    def show_breakpoints(self, breakpoints: tuple[Breakpoint, ...]) -> None:
        """List breakpoints; the selected row stays selected."""
        row = self.table.currentIndex().row()
        self.model.show_breakpoints(breakpoints)
        self._pages.setCurrentIndex(1 if breakpoints else 0)
        if breakpoints and row >= 0:
            self.table.selectRow(min(row, len(breakpoints) - 1))
        self.clear.setEnabled(bool(breakpoints))
        self._enable()

    def show_hit(self, one: Breakpoint) -> None:
        """Select the breakpoint at which a run stopped."""
        row = next((row for row, known in enumerate(self.model.rows) if known.is_same(one)), -1)
        if row >= 0:
            self.table.selectRow(row)

    def _connect(self) -> None:
        self.add_wanted = self.add.clicked
        self.model.switched.connect(self._switch)
        self.table.doubleClicked.connect(lambda index: self._activate(index.row()))
        self.table.selectionModel().selectionChanged.connect(lambda _now, _before: self._enable())

    def _enable(self) -> None:
        self.remove.setEnabled(bool(self.table.selectionModel().selectedRows()))

    def _activate(self, row: int) -> None:
        self.activated.emit(self.model.rows[row])

    def _switch(self, row: int) -> None:
        rows = list(self.model.rows)
        rows[row] = replace(rows[row], enabled=not rows[row].enabled)
        self.changed.emit(tuple(rows))

    def _remove_selected(self) -> None:
        removed = {index.row() for index in self.table.selectionModel().selectedRows()}
        if removed:
            self.changed.emit(tuple(one for row, one in enumerate(self.model.rows) if row not in removed))


class _Table(QTableView):
    """Space toggles, Del removes, Return goes to the position, on every platform.

    Args:
        model: the breakpoints.
        toggle: receives the row to toggle.
        remove: removes the selected rows.
        go_to: receives the row to go to.
    """

    def __init__(
        self,
        model: BreakpointsModel,
        *,
        toggle: Callable[[int], None],
        remove: Callable[[], None],
        go_to: Callable[[int], None],
    ) -> None:
        super().__init__()
        self._toggle, self._remove, self._go_to = toggle, remove, go_to
        self.setModel(model)
        self.setAccessibleName(ui_text("breakpoints.pane.name"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(ON, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(KIND, QHeaderView.ResizeMode.Fixed)
        self.setColumnWidth(ON, 32)
        self.setColumnWidth(KIND, 180)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys."""
        row = self.currentIndex().row()
        match event.key():
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace:
                self._remove()
            case Qt.Key.Key_Space if row >= 0:
                self._toggle(row)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if row >= 0:
                self._go_to(row)
            case _:
                super().keyPressEvent(event)


def _kind_text(one: Breakpoint) -> str:
    return ui_text(f"breakpoints.fragment.{one.kind.name.lower()}")


def element_text(one: Breakpoint) -> str:
    """Return the element that a breakpoint is on, for the list."""
    if one.label:
        return one.label
    match one.kind:
        case BreakpointKind.RULE:
            return one.name or ui_text("breakpoints.fragment.whole_schema")
        case BreakpointKind.STATE:
            if one.name:
                return f"{one.name} · {one.state}"
            return ui_text("session.run.fragment.state", state=one.state)
        case BreakpointKind.POSITION:
            return ui_text("session.run.fragment.offset", offset=one.offset)
