"""The list of breakpoints of a document, with switches, and navigation to their positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QSpinBox,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import keys_of, local_key, set_tip
from app.theme.buttons import tool_button
from app.theme.labels import Label, plain_text
from app.widgets.keyboard import delegate_focus
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, ConditionBreakpoint, StopPoint
from engine.decoding.debugging.conditions import CONDITIONS

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_COLUMNS = ("enabled", "element", "kind")
ON, WHAT, KIND = range(len(_COLUMNS))


class BreakpointsModel(QAbstractTableModel):
    """One row for each breakpoint, with a check box; the limit of a condition can be edited.

    Signals:
        switched(row): the user toggled one.
        limited(row, limit): the user changed the limit of a condition.
    """

    switched = Signal(int)
    limited = Signal(int, float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[StopPoint, ...] = ()

    def show_breakpoints(self, rows: tuple[StopPoint, ...]) -> None:
        """Show breakpoints. While a limit is edited, its row only changes: a reset would discard the field."""
        if rows and len(rows) == len(self._rows):
            self._rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, KIND))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @property
    def rows(self) -> tuple[StopPoint, ...]:
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
        """Return the flags; the first column has a check box, and the limit of a condition can be edited."""
        flags = super().flags(index)
        if index.isValid() and index.column() == ON:
            return flags | Qt.ItemFlag.ItemIsUserCheckable
        if index.isValid() and index.column() == WHAT and isinstance(self._rows[index.row()], ConditionBreakpoint):
            return flags | Qt.ItemFlag.ItemIsEditable
        return flags

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
            case Qt.ItemDataRole.FontRole if index.column() == WHAT and isinstance(row, Breakpoint):
                return theme.mono_font()
            case Qt.ItemDataRole.ToolTipRole if isinstance(row, ConditionBreakpoint):
                return plain_text(row.kind.tip)
            case Qt.ItemDataRole.EditRole if isinstance(row, ConditionBreakpoint):
                return row.limit
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Toggle the check box, or set a limit: the owner of the breakpoints changes them, and shows them again."""
        if not index.isValid():
            return False
        match role:
            case Qt.ItemDataRole.CheckStateRole:
                self.switched.emit(index.row())
            case Qt.ItemDataRole.EditRole:
                self.limited.emit(index.row(), float(value))
            case _:
                return False
        return True


class _LimitDelegate(QStyledItemDelegate):
    """Edits the limit of a condition in its row."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Create a field with the bounds of the condition, which is named before the number."""
        model = index.model()
        assert isinstance(model, BreakpointsModel)
        row = model.rows[index.row()]
        assert isinstance(row, ConditionBreakpoint)
        kind, editor = row.kind, _number_field(row)
        editor.setParent(parent)
        editor.setObjectName("condition.limit")
        editor.setPrefix(f"{kind.title} ")
        editor.setAccessibleName(ui_text("breakpoints.pane.limit"))
        editor.setAccessibleDescription(kind.title)
        editor.setFrame(False)
        editor.setAutoFillBackground(True)
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Show the limit."""
        assert isinstance(editor, QDoubleSpinBox | QSpinBox)
        limit = index.data(Qt.ItemDataRole.EditRole)
        if isinstance(editor, QDoubleSpinBox):
            editor.setValue(limit * 100)
        else:
            editor.setValue(round(limit))

    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        """Set the limit."""
        assert isinstance(editor, QAbstractSpinBox)
        editor.interpretText()
        if isinstance(editor, QDoubleSpinBox):
            model.setData(index, editor.value() / 100)
        elif isinstance(editor, QSpinBox):
            model.setData(index, editor.value())


def _number_field(row: ConditionBreakpoint) -> QDoubleSpinBox | QSpinBox:
    """Return a field for a limit; a probability is in percent."""
    kind = row.kind
    if kind.is_share:
        return QDoubleSpinBox(decimals=4, minimum=kind.least * 100, maximum=kind.most * 100, suffix=" %")
    return QSpinBox(minimum=round(kind.least), maximum=round(kind.most))


class BreakpointsPane(QFrame):
    """Lists breakpoints.

    Signals:
        changed(breakpoints): the user toggled or removed some.
        activated(Breakpoint): show its position.
        add_wanted(): set one at the cursor.

    Attributes:
        conditions: the menu of conditions.
    """

    changed = Signal(tuple)
    activated = Signal(Breakpoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.model = BreakpointsModel(self)
        self.table = _Table(self.model, toggle=self._switch, remove=self._remove_selected, go_to=self._activate)
        self.table.setItemDelegateForColumn(WHAT, _LimitDelegate(self.table))
        self.conditions = QMenu(self, toolTipsVisible=True)
        for kind in CONDITIONS:
            action = QAction(f"{kind.title}…", self.conditions)
            action.setObjectName(f"condition.{kind.name}")
            action.setToolTip(plain_text(kind.tip))
            action.triggered.connect(lambda _checked=False, name=kind.name: self._add_condition(name))
            self.conditions.addAction(action)
        self.condition = tool_button(ui_text("breakpoints.pane.condition.label"), role="outlined")
        self.condition.setMenu(self.conditions)
        self.condition.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        set_tip(self.condition, ui_text("breakpoints.pane.condition.tip"), "run.condition")
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
        self.empty_label = Label(
            ui_text("breakpoints.pane.empty", keys=keys_of("run.breakpoint"), condition_keys=keys_of("run.condition"))
        )
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
        for button in (self.add, self.condition, self.remove, self.clear):
            bar.addWidget(button)
        bar.addStretch(1)
        layout.addWidget(self._pages, 1)
        delegate_focus(self, self.table, self.add)
        self._connect()
        self.show_breakpoints(())

    def show_breakpoints(self, breakpoints: tuple[StopPoint, ...]) -> None:
        """List breakpoints; the selected row stays selected."""
        row = self.table.currentIndex().row()
        self.model.show_breakpoints(breakpoints)
        self._pages.setCurrentIndex(1 if breakpoints else 0)
        if breakpoints and row >= 0:
            self.table.selectRow(min(row, len(breakpoints) - 1))
        self.clear.setEnabled(bool(breakpoints))
        self._enable()

    def show_hit(self, one: StopPoint) -> None:
        """Select the breakpoint at which a run stopped."""
        row = next((row for row, known in enumerate(self.model.rows) if known.is_same(one)), -1)
        if row >= 0:
            self.table.selectRow(row)

    def open_conditions(self) -> None:
        """Open the menu of conditions."""
        self.conditions.popup(self.condition.mapToGlobal(QPoint(0, self.condition.height())))

    def _add_condition(self, name: str) -> None:
        """Add a condition with its default limit, if there is none of its kind, and edit its limit."""
        self.table.setFocus()  # which ends the editing of another one
        new = ConditionBreakpoint(name, CONDITIONS[name].default)
        if not any(one.is_same(new) for one in self.model.rows):
            self.changed.emit((*self.model.rows, new))
        self.show_hit(new)
        if self.table.selectionModel().selectedRows():
            self._activate(self.table.currentIndex().row())

    def _connect(self) -> None:
        self.add_wanted = self.add.clicked
        self.model.switched.connect(self._switch)
        self.model.limited.connect(self._limit)
        self.table.doubleClicked.connect(lambda index: self._activate(index.row()))
        self.table.selectionModel().selectionChanged.connect(lambda _now, _before: self._enable())

    def _enable(self) -> None:
        self.remove.setEnabled(bool(self.table.selectionModel().selectedRows()))

    def _activate(self, row: int) -> None:
        """Go to the position of a breakpoint, or edit the limit of a condition."""
        one = self.model.rows[row]
        if isinstance(one, ConditionBreakpoint):
            self.table.setFocus()
            self.table.edit(self.model.index(row, WHAT))
        else:
            self.activated.emit(one)

    def _switch(self, row: int) -> None:
        one = self.model.rows[row]
        self._change(row, replace(one, enabled=not one.enabled))

    def _limit(self, row: int, limit: float) -> None:
        one = self.model.rows[row]
        if isinstance(one, ConditionBreakpoint):
            self._change(row, replace(one, limit=min(max(limit, one.kind.least), one.kind.most)))

    def _change(self, row: int, changed: StopPoint) -> None:
        rows = list(self.model.rows)
        rows[row] = changed
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
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(ON, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(KIND, QHeaderView.ResizeMode.Fixed)
        self.setColumnWidth(ON, 32)
        self.setColumnWidth(KIND, 180)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys; those that the field of a limit leaves have ended the editing."""
        row = self.currentIndex().row() if self.state() is not QAbstractItemView.State.EditingState else -1
        match event.key():
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace if row >= 0:
                self._remove()
            case Qt.Key.Key_Space if row >= 0:
                self._toggle(row)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if row >= 0:
                self._go_to(row)
            case _:
                super().keyPressEvent(event)


def _kind_text(one: StopPoint) -> str:
    kind = one.kind.name.lower() if isinstance(one, Breakpoint) else "condition"
    return ui_text(f"breakpoints.fragment.{kind}")


def element_text(one: StopPoint) -> str:
    """Return the element that a breakpoint is on, for the list."""
    if isinstance(one, ConditionBreakpoint):
        title, limit = one.kind.title, one.kind.limit_text(one.limit)
        return ui_text("breakpoints.condition.row", title=title, limit=limit)
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
