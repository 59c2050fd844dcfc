"""The branches of the trace and the archived ones as trees, and one or two of them step by step.

A row is a run of steps up to where branches part, with the probability of the step where it parts and of the output up
to its end. A click or Return opens a branch; of two selected ones, the steps are side by side.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QShowEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QSplitter,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import local_key, set_tip
from app.display_text import prompt_text
from app.models.branches import (
    BranchPart,
    ComparedSteps,
    archived_trees,
    log_text,
    parts_of,
    step_percent,
    text_of,
)
from app.theme.buttons import tool_button
from app.theme.labels import Label, plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.keyboard import delegate_focus
from app.widgets.throttle import Throttle
from engine.decoding.values import ArchivedBranch, Step, Trace

_COLUMNS = ("part", "p", "log_p", "tokens", "text")
PART, P, LOG_P, TOKENS, TEXT = range(len(_COLUMNS))
_PART = Qt.ItemDataRole.UserRole
_ROOT = Qt.ItemDataRole.UserRole + 1  # the number of the tree
_SHOWN = 60  # characters of the text of a row
_PAIR = 2


class BranchesPane(QFrame):
    """Shows branches.

    Signals:
        node_chosen(step id): go to right after this step of the trace.
        archived_chosen(ArchivedBranch): show this archived branch.
        keep_wanted(steps): keep these steps as an archived branch.
        renamed(ArchivedBranch, name): give an archived branch this name.
        removed(ArchivedBranch): drop an archived branch.
    """

    node_chosen = Signal(int)
    archived_chosen = Signal(ArchivedBranch)
    keep_wanted = Signal(tuple)
    renamed = Signal(ArchivedBranch, str)
    removed = Signal(ArchivedBranch)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._trace, self._archived, self._model_name = Trace(), tuple[ArchivedBranch, ...](), ""
        self._is_filling = False
        self._throttle = Throttle(self._fill, self)
        self.model = QStandardItemModel(self)
        self.model.setHorizontalHeaderLabels([ui_text(f"branches.column.fragment.{name}") for name in _COLUMNS])
        for column, name in enumerate(_COLUMNS):
            self.model.horizontalHeaderItem(column).setToolTip(plain_text(ui_text(f"branches.tip.{name}")))
        self.tree = _BranchTree(self.model)
        self.steps = ComparedSteps(self)
        self.table = QTableView()
        self.keep = tool_button(ui_text("branches.keep.label"), role="outlined", clicked=self.keep_selected)
        self.rename = tool_button(ui_text("branches.rename.label"), role="outlined", clicked=self._edit_selected)
        self.remove = tool_button(ui_text("common.button.remove"), role="outlined", clicked=self._remove_selected)
        set_tip(self.keep, ui_text("branches.keep.tip"), "run.keep_branch")
        set_tip(self.rename, ui_text("branches.rename.tip"), local_key("branches.rename", "F2"))
        set_tip(self.remove, ui_text("branches.remove.tip"), local_key("branches.remove", "Del"))
        self.facts = ElidedLabel()
        self._empty = Label(ui_text("branches.empty"))
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._pages = QStackedWidget()
        self._build()
        self._connect()
        self._fill()

    def show_branches(self, trace: Trace, archived: tuple[ArchivedBranch, ...], model: str) -> None:
        """Show the branches of a trace and archived ones; a hidden pane reads them when it is shown.

        Args:
            trace: the trace.
            archived: the archived branches, the latest first.
            model: the name of the model of the trace.
        """
        if (trace, archived, model) != (self._trace, self._archived, self._model_name):
            self._trace, self._archived, self._model_name = trace, archived, model
            if self.isVisible():
                self._throttle.request()

    def keep_selected(self) -> None:
        """Request that the selected branch of the trace, or else the shown one, is kept with a name."""
        selected = next((item for item in self._selected() if not item.data(_ROOT)), None)
        steps = tuple(step for _, step in self._line(selected)) if selected is not None else self._shown_steps()
        if steps:
            self.keep_wanted.emit(steps)

    def edit_name(self, branch: ArchivedBranch) -> None:
        """Let the user type the name of an archived branch."""
        self._fill()
        item = next((item for item in self._items() if branch in _part_of(item).ends), None)
        if item is not None:
            self.tree.setFocus()
            self.tree.setCurrentIndex(item.index())
            self.tree.edit(item.index())

    # --- the trees ---------------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        if self.tree.state() is QAbstractItemView.State.EditingState:
            self._throttle.request()  # a name is being typed
            return
        chosen, current = {_key(item) for item in self._selected()}, self.tree.currentIndex().siblingAtColumn(PART)
        focused = _key(self.model.itemFromIndex(current)) if current.isValid() else None
        scrolled = self.tree.verticalScrollBar().value()
        self._is_filling = True
        self.model.removeRows(0, self.model.rowCount())
        if self._trace.nodes:
            self._add_tree(0, self._present_title(), parts_of(self._trace.nodes))
        for number, (latest, parts) in enumerate(archived_trees(self._archived), 1):
            self._add_tree(number, _title_of(latest), parts)
        self.tree.expandAll()
        for row in range(self.model.rowCount()):
            self.tree.setFirstColumnSpanned(row, QModelIndex(), True)
        for item in self._items():
            if _key(item) in chosen:
                self.tree.select(item.index())
            if _key(item) == focused:
                self.tree.make_current(item.index())
        self.tree.verticalScrollBar().setValue(scrolled)
        self._is_filling = False
        self._pages.setCurrentIndex(1 if self.model.rowCount() else 0)
        self._show_selected()

    def _present_title(self) -> str:
        name = self._model_name
        return ui_text("branches.present", model=name) if name else ui_text("common.word.output")

    def _add_tree(self, number: int, title: str, parts: list[BranchPart]) -> None:
        root = QStandardItem(title)
        root.setFlags(Qt.ItemFlag.ItemIsEnabled)
        root.setForeground(theme.colour(theme.Role.MUTED))
        root.setToolTip(plain_text(title))
        waiting = [(root, part) for part in parts]
        while waiting:
            above, part = waiting.pop(0)
            row = self._row_of(part, number)
            above.appendRow(row)
            waiting += ((row[PART], one) for one in part.below)
        self.model.appendRow(root)

    def _row_of(self, part: BranchPart, number: int) -> list[QStandardItem]:
        path, is_live = frozenset(self._trace.path), number == 0
        name = next((end.name for end in part.ends if end.name), "")
        text = "".join(map(text_of, part.steps[:_SHOWN]))
        shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
        is_current = is_live and self._trace.current in part.nodes
        title = name or text_of(part.steps[0])
        total = part.before + len(part.steps)
        cells = (title, step_percent(part.steps[0]), log_text(part.log_p), f"{total:,}", shown)
        row = [QStandardItem(cell) for cell in cells]
        first = row[PART]
        first.setData(part, _PART)
        first.setData(number, _ROOT)
        for item in row:
            item.setEditable(item is first and bool(part.ends))
        for item in (first, row[TEXT]):
            font = theme.mono_font() if not (item is first and name) else theme.ui_font()
            font.setBold(is_live and part.nodes[0] in path)
            font.setStrikeOut(is_live and not self._trace.illegal.isdisjoint(part.nodes))
            item.setFont(font)
        for column in (P, LOG_P, TOKENS):
            row[column].setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if is_current:
            first.setForeground(theme.colour(theme.Role.ACCENT))
        state = [ui_text("branches.current")] if is_current else []
        first.setToolTip(plain_text("\n".join([title, *state, ui_text("branches.open_tip")])))
        row[TEXT].setToolTip(plain_text(text))
        return row

    def _items(self) -> Iterator[QStandardItem]:
        """Yield the items of all parts, each before those below it."""
        waiting = [self.model.item(row) for row in range(self.model.rowCount())]
        while waiting:
            item = waiting.pop(0)
            below = [item.child(row) for row in range(item.rowCount())]
            yield from below
            waiting += below

    def _selected(self) -> list[QStandardItem]:
        rows = self.tree.selectionModel().selectedRows(PART)
        items = [self.model.itemFromIndex(index) for index in rows]
        return [item for item in items if item.data(_PART) is not None]

    def _line(self, item: QStandardItem) -> list[tuple[int, Step]]:
        """Return the steps from the first to the last one of a part, with their ids in the trace."""
        parts: list[BranchPart] = []
        at: QStandardItem | None = item
        while at is not None and at.data(_PART) is not None:
            parts.append(_part_of(at))
            at = at.parent()
        return [pair for part in reversed(parts) for pair in zip(part.nodes, part.steps, strict=True)]

    def _shown_steps(self) -> tuple[Step, ...]:
        steps = {node.id: node.step for node in self._trace.nodes}
        return tuple(steps[node_id] for node_id in self._trace.path)

    # --- what is chosen ----------------------------------------------------------------------------------------------

    def _show_selected(self) -> None:
        """Show the steps of the selected branches; without any, those of the shown path."""
        if self._is_filling:
            return
        chosen = self._selected()
        self.rename.setEnabled(len(chosen) == 1 and bool(_part_of(chosen[0]).ends))
        self.remove.setEnabled(self.rename.isEnabled())
        self.keep.setEnabled(bool(self._trace.path))
        lines = [tuple(step for _, step in self._line(item)) for item in chosen[:_PAIR]] or [self._shown_steps()]
        self.steps.show_steps(*lines)
        header = self.table.horizontalHeader()
        for column in range(self.steps.columnCount()):
            is_token = column not in self.steps.numbers
            mode = QHeaderView.ResizeMode.Stretch if is_token else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, mode)
        if len(lines) == _PAIR:
            self.facts.set_text(_difference(lines[0], lines[1], self.steps.common))
            self.table.scrollTo(self.steps.index(max(self.steps.common - 1, 0), 0), _AT_TOP)
        else:
            key = "many" if len(chosen) > _PAIR else "one" if chosen else "none"
            self.facts.set_text(ui_text(f"branches.facts.{key}") if self.model.rowCount() else "")

    def _open(self, index: QModelIndex) -> None:
        item = self.model.itemFromIndex(index.siblingAtColumn(PART))
        part: BranchPart | None = item.data(_PART)
        if part is None:
            return
        if not item.data(_ROOT):
            self.node_chosen.emit(part.nodes[-1])
        elif ended := _first_end(part):
            self.archived_chosen.emit(ended)

    def _open_step(self, index: QModelIndex) -> None:
        """Go to a step of a branch of the trace."""
        chosen = self._selected()
        at = 0 if index.column() <= P else 1
        if at < len(chosen) and not chosen[at].data(_ROOT) and index.row() < len(line := self._line(chosen[at])):
            self.node_chosen.emit(line[index.row()][0])
        elif not chosen and index.row() < len(self._trace.path):
            self.node_chosen.emit(self._trace.path[index.row()])

    def _edit_selected(self) -> None:
        if self.rename.isEnabled():
            self.tree.edit(self._selected()[0].index())

    def _remove_selected(self) -> None:
        if self.remove.isEnabled():
            self.removed.emit(_part_of(self._selected()[0]).ends[0])

    def _on_edited(self, item: QStandardItem) -> None:
        part: BranchPart | None = item.data(_PART)
        if part is not None and part.ends and not self._is_filling:
            named = next((end for end in part.ends if end.name), part.ends[0])
            self.renamed.emit(named, item.text().strip())

    def _show_menu(self, index: QModelIndex, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(ui_text("common.button.open"), lambda: self._open(index))
        for button in (self.keep, self.rename, self.remove):
            menu.addAction(button.text(), button.click).setEnabled(button.isEnabled())
        menu.popup(position)

    # --- Qt ----------------------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Show what arrived while the pane was hidden."""
        super().showEvent(event)
        self._throttle.request()

    def _build(self) -> None:
        self.table.setModel(self.steps)
        self.table.setObjectName("branch-steps")
        self.table.setAccessibleName(ui_text("branches.steps.name"))
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + theme.SPACE_S)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.horizontalHeader().setResizeContentsPrecision(0)  # of thousands of rows, the visible ones
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        bar.setSpacing(theme.SPACE_XS)
        self._division = QSplitter(Qt.Orientation.Horizontal)
        self._division.setChildrenCollapsible(False)
        self._division.addWidget(self.tree)
        self._division.addWidget(self.table)
        self._division.setStretchFactor(0, 3)
        self._division.setStretchFactor(1, 2)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._division)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(bar)
        for button in (self.keep, self.rename, self.remove):
            bar.addWidget(button)
        bar.addSpacing(theme.SPACE_S)
        bar.addWidget(self.facts, 1)
        layout.addWidget(self._pages, 1)
        delegate_focus(self, self.tree, self.keep)

    def _connect(self) -> None:
        self.tree.opened.connect(self._open)
        self.tree.menu_wanted.connect(self._show_menu)
        self.tree.remove_wanted.connect(self._remove_selected)
        self.tree.selectionModel().selectionChanged.connect(lambda _now, _before: self._show_selected())
        self.model.itemChanged.connect(self._on_edited)
        self.table.activated.connect(self._open_step)
        theme.themes.changed.connect(self._throttle.request)
        header = self.tree.header()
        header.setStretchLastSection(True)
        header.setResizeContentsPrecision(0)
        header.setSectionsMovable(False)
        character = self.fontMetrics().averageCharWidth()
        self.tree.setColumnWidth(PART, 28 * character)
        for column in (P, LOG_P, TOKENS):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)


_AT_TOP = QAbstractItemView.ScrollHint.PositionAtTop


class _NameDelegate(QStyledItemDelegate):
    """Edits the name of a branch in its row."""

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        """Return a field that is no higher than the row."""
        line = QLineEdit(parent)
        line.setObjectName("branch-name")
        line.setAccessibleName(ui_text("branches.rename.tip"))
        line.setStyleSheet("border-radius: 0; padding: 0 4px;")
        return line


class _BranchTree(QTreeView):
    """A tree whose rows are opened by a click or Return; Ctrl and Shift select several.

    Signals:
        opened(index): open a row.
        menu_wanted(index, position): show the commands of a row.
        remove_wanted(): remove what is selected.
    """

    opened = Signal(QModelIndex)
    menu_wanted = Signal(QModelIndex, QPoint)
    remove_wanted = Signal()

    def __init__(self, model: QStandardItemModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setObjectName("branch-tree")
        self.setAccessibleName(ui_text("branches.name"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setIndentation(theme.SPACE_L)
        self.setItemDelegateForColumn(PART, _NameDelegate(self))
        self.setExpandsOnDoubleClick(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)

    def select(self, index: QModelIndex) -> None:
        """Add a row to the selection."""
        selection = self.selectionModel()
        selection.select(index, selection.SelectionFlag.Select | selection.SelectionFlag.Rows)

    def make_current(self, index: QModelIndex) -> None:
        """Make a row the current one; the selection stays."""
        selection = self.selectionModel()
        selection.setCurrentIndex(index, selection.SelectionFlag.NoUpdate)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open a clicked row."""
        super().mouseReleaseEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position)
        is_on_row = index.isValid() and position.x() >= self.visualRect(index).left()
        if event.button() is Qt.MouseButton.LeftButton and is_on_row and not event.modifiers():
            self.opened.emit(index)

    def event(self, event: QEvent) -> bool:
        """Take F2 before the window's command, which renames a rule of the grammar."""
        if isinstance(event, QKeyEvent) and (event.type(), event.key()) == (
            QEvent.Type.ShortcutOverride,
            Qt.Key.Key_F2,
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the current row on Return, remove on Del."""
        is_editing = self.state() is QAbstractItemView.State.EditingState
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self.currentIndex().isValid() and not is_editing:
                self.opened.emit(self.currentIndex())
            case Qt.Key.Key_Delete if not is_editing:
                self.remove_wanted.emit()
            case _:
                super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the commands of a row."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        if index.isValid():
            below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
            self.menu_wanted.emit(index, event.globalPos() if by_mouse else below)


def _part_of(item: QStandardItem) -> BranchPart:
    part: BranchPart = item.data(_PART)
    return part


def _key(item: QStandardItem | None) -> tuple[int, int] | None:
    """Return what a part is recognised by when the trace has grown; None for a heading."""
    part: BranchPart | None = None if item is None else item.data(_PART)
    return None if part is None or item is None else (item.data(_ROOT), part.nodes[0])


def _first_end(part: BranchPart) -> ArchivedBranch | None:
    """Return the first archived branch that passes a part."""
    waiting = [part]
    while waiting:
        at = waiting.pop(0)
        if at.ends:
            return at.ends[0]
        waiting += at.below
    return None


def _title_of(archived: ArchivedBranch) -> str:
    prompt = prompt_text(archived.prompt)
    key = "archived" if prompt else "archived_without_prompt"
    values = {"prompt": prompt} if prompt else {}
    return ui_text(f"branches.{key}", model=archived.model, **values)


def _difference(first: tuple[Step, ...], second: tuple[Step, ...], at: int) -> str:
    """Return that two branches part at a step, with the probabilities of both tokens there, or that one ends there."""
    if at == min(len(first), len(second)):
        return ui_text("branches.facts.prefix", count=at)
    one, other = first[at], second[at]
    return ui_text(
        "branches.facts.pair",
        step=at + 1,
        first=text_of(one),
        first_p=step_percent(one),
        second=text_of(other),
        second_p=step_percent(other),
    )
