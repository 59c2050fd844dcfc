"""The map of a schema: its subschemas as a tree with types, constraints and states, joined with text and automaton.

The rows come with the compile answer (`engine.notations.schema_map`); a row of the tree is created when the row around
it is expanded, so a schema of a megabyte costs as much as a small one. The map follows the match: it shows the row that
the next token belongs to, and folds what it opened for the last one.
"""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QMenu, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.models.schema_rows import CONSTRAINTS, NAME, PRICE, STATES, TYPE, SchemaRowsModel
from app.theme.buttons import icon_button
from app.widgets.elided_label import ElidedLabel
from app.widgets.find_bar import FindBar
from app.widgets.keyboard import delegate_focus
from app.widgets.linked_tree import LinkedTree
from app.workers.requests.grammar_position import GrammarPosition
from engine.diagnosis.scores.price_values import GrammarPrice
from engine.notations.schema_map import NO_ROW, SchemaMap
from engine.source import Span
from engine.source.json_scanner import JsonPath

_EXPANDED_AT_FIRST = 24
_MOST_KEPT = 400  # expanded rows that stay expanded when an edit changes the rows
_SAMPLES = {TYPE: "string | null", STATES: "100,000 · 99% ", PRICE: "10.5 nats "}


class SchemaMapPage(QWidget):
    """Shows the map of one schema.

    Signals:
        span_pointed(Span): a row was selected; show its text, the focus stays.
        span_wanted(Span): go to a text.
        spans_hovered(spans): the text of the hovered row; empty for none.
        drawing_wanted(row): show a row in the drawing of the automaton.
    """

    span_pointed = Signal(Span)
    span_wanted = Signal(Span)
    spans_hovered = Signal(tuple)
    drawing_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = SchemaRowsModel(self)
        self.tree = LinkedTree(ui_text("automaton.schema_map.name"))
        self.tree.setObjectName("map-of-schema")
        self.find_bar = FindBar(ui_text("automaton.schema_map.find"), is_permanent=True, on_down=self.tree.setFocus)
        self.follow_button = icon_button(
            "ph.crosshair",
            ui_text("automaton.schema_map.follow.label"),
            ui_text("automaton.schema_map.follow.tip"),
            checkable=True,
        )
        self.follow_button.setChecked(True)
        self.where = ElidedLabel(fills=True)
        self._opened: list[int] = []  # rows, by following, the outermost first
        self._position: GrammarPosition | None = None
        self._along: tuple[frozenset[int], ...] = ()  # the rows of each open value, by `SchemaMap.along`
        self._along_of: tuple[JsonPath, SchemaMap | None] = (), None
        self._is_answering = False  # a row is selected because of the text, not by the user
        self._lay_out()
        self.tree.setModel(self.model)
        self.tree.has_target = lambda index: self._target(index) != NO_ROW
        self.tree.fill_menu = self._fill_menu
        header = self.tree.header()
        metrics = QFontMetrics(theme.ui_font())
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column, sample in _SAMPLES.items():
            self.tree.setColumnWidth(column, metrics.horizontalAdvance(sample) + 2 * theme.SPACE_S)
        self.tree.setColumnHidden(PRICE, True)
        header.setSectionResizeMode(CONSTRAINTS, QHeaderView.ResizeMode.Stretch)
        self.tree.selectionModel().currentChanged.connect(self._on_current)
        self.tree.pointed.connect(lambda index: self._emit_hovered(self.model.row_of(index)))
        self.tree.left.connect(lambda: self.spans_hovered.emit(()))
        self.tree.clicked_row.connect(self._point)
        self.tree.entered_row.connect(self._go_to_text)
        self.tree.doubleClicked.connect(self._jump)
        self.tree.target_chosen.connect(self._jump)
        self.tree.copy_wanted.connect(self._copy_pointer)
        self.find_bar.text_changed.connect(self._filter)
        self.find_bar.step_requested.connect(self._step)
        self.find_bar.escaped.connect(self._leave_field)
        self.follow_button.toggled.connect(lambda _is_on: self._follow())
        theme.themes.changed.connect(self.tree.viewport().update)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give names the larger part of what types and states leave, and keep the row of the match in sight."""
        super().resizeEvent(event)
        self.tree.setColumnWidth(NAME, event.size().width() * 2 // 5)
        bottom = self.tree.viewport().height()
        if self.model.live and 0 < self._bottom_of_match() - bottom <= event.oldSize().height() - event.size().height():
            self._follow()

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the match, which may have moved while the tree had no size."""
        super().showEvent(event)
        self._follow()

    def _bottom_of_match(self) -> int:
        return self.tree.visualRect(self.model.index_of(min(self.model.live))).bottom()

    def _lay_out(self) -> None:
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setIndentation(theme.SPACE_M)
        self.find_bar.add_control(self.follow_button, at_end=True)
        self.where.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.find_bar)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.where)
        delegate_focus(self, self.tree)

    # --- contents ----------------------------------------------------------------------------------------------------

    def show_map(self, found: SchemaMap | None) -> None:
        """Show the map of another text; rows that it has, too, stay expanded and selected."""
        if found is not None and self.model.replace(found):
            return
        expanded, current = self._expanded(), self.model.steps_of(self.tree.currentIndex())
        position = self.tree.verticalScrollBar().value()
        rows = None if found is None or not self.find_bar.text() else found.find(self.find_bar.text())
        self._opened.clear()
        with QSignalBlocker(self.tree.selectionModel()):
            self.model.show(found, rows)
        if rows is None and found is not None and not any(self._expand(steps) for steps in expanded):
            self._expand_at_first()
        index = self.model.find_steps(current)
        if index.isValid():
            self._select(index)
            self.tree.verticalScrollBar().setValue(position)
        self._show_result()
        self._show_where()

    def _expanded(self) -> list[tuple[str, ...]]:
        """Return the steps to the expanded rows, the outermost first."""
        found: list[tuple[str, ...]] = []
        pending = [self.model.index(row, NAME) for row in range(self.model.rowCount())]
        for index in pending:
            if self.tree.isExpanded(index) and len(found) < _MOST_KEPT:
                found.append(self.model.steps_of(index))
                pending += [self.model.index(row, NAME, index) for row in range(self.model.rowCount(index))]
        return found

    def _expand(self, steps: tuple[str, ...]) -> bool:
        index = self.model.find_steps(steps)
        if index.isValid():
            self.tree.expand(index)
        return index.isValid()

    def _expand_at_first(self) -> None:
        """Expand the outermost rows, as far as they are few; definitions stay folded."""
        shown, pending = 1, [self.model.index(0, NAME)]
        for index in pending:
            found = self.model.map
            row = self.model.row_of(index)
            is_first = not index.parent().isValid()
            if found is None or found.groups[row] or (found.targets[row] != NO_ROW and not is_first):
                continue
            shown += self.model.rowCount(index)
            if shown > _EXPANDED_AT_FIRST and not is_first:
                break
            self.tree.expand(index)
            pending += [self.model.index(inner, NAME, index) for inner in range(self.model.rowCount(index))]

    def set_live(self, spans: tuple[Span, ...], position: GrammarPosition | None = None) -> None:
        """Mark the rows that the match is in and those of the objects and arrays around it, and follow it.

        Args:
            spans: what the grammar reads next, in the text of the map.
            position: the match; None while it is not known.
        """
        found, path = self.model.map, () if position is None else position.path
        self._position = position
        if found is None:
            return
        if path != self._along_of[0] or found is not self._along_of[1]:
            self._along, self._along_of = found.along(path), (path, found)
        rows = {found.at(span.start) for span in spans} or (self._along[-1] if path else frozenset())
        is_changed = self.model.set_live(rows, frozenset().union(*self._along) - rows)
        self._show_where()
        if is_changed:
            self._follow()

    def show_price(self, price: GrammarPrice | None) -> None:
        """Show what each row costs in the shown output; the column is hidden while that is not known.

        Args:
            price: the price of the grammar that the map is of; None if it is not known.
        """
        self.model.set_price(price)
        self.tree.setColumnHidden(PRICE, price is None)

    def select_at(self, offset: int) -> None:
        """Select the row of an offset of the text, if it is listed."""
        found = self.model.map
        if found is not None and not self.tree.hasFocus() and found.at(offset) != self.current_row:
            index = self.model.index_of(found.at(offset))
            if index.isValid():
                self._select(index)
                self.tree.scrollTo(index)

    @property
    def current_row(self) -> int:
        """Return the selected row; `NO_ROW` if none is."""
        return self.model.row_of(self.tree.currentIndex())

    def _show_where(self) -> None:
        """Say in words where the match is."""
        found, live = self.model.map, sorted(self.model.live)
        if found is None or not live:
            self.where.set_text("")
            return
        names = " › ".join(found.names[row] for row in found.path(live[0])[1:])
        more = len(live) - 1
        text = ui_text("automaton.schema_map.where", names=names) if names else ui_text("automaton.schema_map.at_root")
        others = f" {ui_text('common.fragment.and_more', count=more)}" if more else ""
        self.where.set_text(text + others + self._open_text())

    def _open_text(self) -> str:
        """Return what is open in the output, and how many stacks there are; empty if nothing is."""
        position = self._position
        if position is None:
            return ""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in position.path)
        parts = (
            [ui_text("automaton.schema_map.fragment.open", path="".join(steps).removeprefix("."))]
            if position.path
            else []
        )
        count = len(position.stacks) + position.more
        parts += [ui_text("automaton.schema_map.fragment.stacks", count=count)] if count > 1 else []
        return "".join(f"  ·  {part}" for part in parts)

    def _follow(self) -> None:
        """Show the first row that the match is in, unless one is shown; fold what was opened for an earlier one."""
        if not self.follow_button.isChecked() or not self.model.live or self.find_bar.text():
            return
        row = min(self.model.live)
        index = self.model.index_of(row)
        if self.model.map is None or not index.isValid():
            return
        around = self.model.map.path(row)[:-1]
        for opened in reversed(self._opened):
            if opened not in around:
                self.tree.collapse(self.model.index_of(opened))
        self._opened = [one for one in self._opened if one in around]
        for one in around:
            outer = self.model.index_of(one)
            if not self.tree.isExpanded(outer):
                self.tree.expand(outer)
                self._opened.append(one)
        self.tree.scrollTo(index)

    # --- links -------------------------------------------------------------------------------------------------------

    def _select(self, index: QModelIndex) -> None:
        """Select a row because of the text: nothing is shown there."""
        self._is_answering = True
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.tree.selectionModel().setCurrentIndex(index, flags)
        self._is_answering = False

    def _on_current(self, index: QModelIndex) -> None:
        if not self._is_answering and self.tree.hasFocus():
            self._point(index)

    def _point(self, index: QModelIndex) -> None:
        row = self.model.row_of(index)
        if self.model.map is not None and row != NO_ROW:
            self.span_pointed.emit(self.model.map.span(row))

    def _emit_hovered(self, row: int) -> None:
        if self.model.map is not None and row != NO_ROW:
            self.spans_hovered.emit((self.model.map.span(row),))

    def _go_to_text(self, index: QModelIndex) -> None:
        row = self.model.row_of(index)
        if self.model.map is not None and row != NO_ROW:
            self.span_wanted.emit(Span(self.model.map.starts[row], self.model.map.starts[row]))

    def _target(self, index: QModelIndex) -> int:
        row = self.model.row_of(index)
        return self.model.map.targets[row] if self.model.map is not None and row != NO_ROW else NO_ROW

    def _jump(self, index: QModelIndex) -> None:
        """Go to the row that one refers to."""
        target = self._target(index)
        if target != NO_ROW:
            self.go_to_row(target)

    def go_to_row(self, row: int) -> None:
        """Select a row of the whole map, and show its text."""
        self.find_bar.field.clear()
        index = self.model.index_of(row)
        if index.isValid():
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index, LinkedTree.ScrollHint.PositionAtCenter)

    def _copy_pointer(self, index: QModelIndex) -> None:
        row = self.model.row_of(index)
        if self.model.map is not None and row != NO_ROW:
            QGuiApplication.clipboard().setText(self.model.map.pointer(row))

    def _fill_menu(self, menu: QMenu, index: QModelIndex) -> None:
        row = self.model.row_of(index)
        menu.addAction(ui_text("automaton.schema_map.show_drawing"), lambda: self.drawing_wanted.emit(row))

    # --- searching ---------------------------------------------------------------------------------------------------

    def _filter(self, text: str) -> None:
        found, row = self.model.map, self.current_row
        if found is None:
            return
        self._opened.clear()
        with QSignalBlocker(self.tree.selectionModel()):
            self.model.show(found, found.find(text) if text.strip() else None)
        if not text.strip():
            self._expand_at_first()
        index = self.model.index_of(row) if row != NO_ROW else QModelIndex()
        if not index.isValid() and text.strip():
            index = self.model.index(0, NAME)
        if index.isValid():
            self._select(index)
            self.tree.scrollTo(index)
        self._show_result()

    def _show_result(self) -> None:
        count = self.model.rowCount() if self.find_bar.text().strip() else 0
        self.find_bar.set_can_step(can_step=bool(count))
        if not self.find_bar.text().strip():
            schemas = 0 if self.model.map is None else len(self.model.map) - sum(self.model.map.groups)
            self.find_bar.set_result(ui_text("automaton.schema_map.counts", count=schemas))
        elif count:
            number = max(self.tree.currentIndex().row(), 0) + 1
            self.find_bar.set_result(ui_text("common.find.position", number=number, count=count))
        else:
            self.find_bar.set_result(ui_text("common.find.nothing"))

    def _step(self, step: int) -> None:
        """Select the next found row (1) or the previous one (-1), wrapping around."""
        count = self.model.rowCount()
        if self.find_bar.text().strip() and count:
            index = self.tree.currentIndex()
            while index.parent().isValid():
                index = index.parent()
            here = index.row() if index.isValid() else -1
            after = self.model.index((here + step) % count, NAME)
            self.tree.setCurrentIndex(after)
            self.tree.scrollTo(after)
            self._point(after)
            self._show_result()

    def _leave_field(self) -> None:
        if self.find_bar.text():
            self.find_bar.field.clear()
        else:
            self.tree.setFocus()
