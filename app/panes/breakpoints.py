"""The list of breakpoints of a document, with switches, and navigation to their positions."""

from __future__ import annotations

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
from app.actions import keys_of, set_tip
from app.theme.buttons import tool_button
from app.theme.labels import Label
from app.widgets.keyboard import delegate_focus
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
ON, WHAT, KIND = range(3)
_TITLES = ("", "A run stops at", "Kind")
_KINDS = {
    BreakpointKind.RULE: "rule, stops before it",
    BreakpointKind.STATE: "state, stops in it",
    BreakpointKind.POSITION: "place, stops before it",
}
_EMPTY = (
    "No breakpoints. Put the cursor on a part of the grammar, or select a state of the automaton, and press {}. "
    "A run stops before the token that enters that part of the grammar, or when it has reached that state."
)


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
        return 0 if parent.isValid() else len(_TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return titles."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(_TITLES):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return _TITLES[section] if role == Qt.ItemDataRole.DisplayRole else None

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
                return ("", what(row), _KINDS[row.kind])[index.column()]
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{'on' if row.enabled else 'off'}: {_KINDS[row.kind]} {what(row)}"
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

    changed = Signal(object)
    activated = Signal(object)
    add_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.model = BreakpointsModel(self)
        self.table = _Table(self.model)
        self.add = tool_button("Add at the cursor", role="outlined")
        self.remove = tool_button("Remove", role="outlined")
        set_tip(self.add, "Set a breakpoint at the cursor, or on the selected state", "run.breakpoint")
        set_tip(self.remove, "Remove the selected breakpoints", "breakpoints.remove")
        self.clear = tool_button("Remove all", "Remove every breakpoint", role="outlined")
        self._empty = Label(_EMPTY.format(keys_of("run.breakpoint")))
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
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
        self.add.clicked.connect(self.add_wanted)
        self.remove.clicked.connect(self._remove_selected)
        self.clear.clicked.connect(lambda: self.changed.emit(()))
        self.model.switched.connect(self._switch)
        self.table.remove_wanted.connect(self._remove_selected)
        self.table.switch_wanted.connect(self._switch)
        self.table.go_wanted.connect(self._activate)
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
    """Space toggles, Del removes, Return goes to the position, on every platform."""

    switch_wanted = Signal(int)
    remove_wanted = Signal()
    go_wanted = Signal(int)

    def __init__(self, model: BreakpointsModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName("Breakpoints")
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
                self.remove_wanted.emit()
            case Qt.Key.Key_Space if row >= 0:
                self.switch_wanted.emit(row)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if row >= 0:
                self.go_wanted.emit(row)
            case _:
                super().keyPressEvent(event)


def what(one: Breakpoint) -> str:
    """Return the element that a breakpoint is on, for the list."""
    if one.label:
        return one.label
    match one.kind:
        case BreakpointKind.RULE:
            return one.name or "the whole schema"
        case BreakpointKind.STATE:
            return f"{one.name} · {one.state}" if one.name else f"state {one.state}"
        case BreakpointKind.POSITION:
            return f"offset {one.offset}"
