"""The bars and panels around the drawing of the automaton pane, and its tables."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QSizePolicy,
    QTableView,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import set_tip
from app.graph.draw.view import GraphView
from app.models.states import ACCEPTS, HERE, LEADS_TO, MARKS, READS, STATE
from app.models.token_groups import EXAMPLES, MASS
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.view_state import LIVE_STATE, ViewState
from app.theme.buttons import give_menu, icon_button, tool_button
from app.theme.labels import Label, plain_text
from app.widgets.elided_label import ElidedLabel
from app.workers.requests.grammar_position import GrammarPosition, OpenFrame, OpenStack
from engine.source import SourceText, Span

_FRAMES = Qt.ItemDataRole.UserRole
_SHOWN = 8  # of the names of a stack, in its line
_LONGEST = 60
_FORMS = ("long", "short", "shortest")  # of a text that has less space in a narrow pane


class AutomatonHeader(QFrame):
    """Title and counts on the left; detail buttons, and graph or table, on the right.

    Signals:
        table_toggled: graph or table was chosen.
        all_toggled: whether to draw all states, although they are many.
        bytes_toggled: whether to draw the states inside characters.
        merge_toggled: whether to draw each counter as one node and each forced run as one edge.
        nfa_toggled: whether to draw the nondeterministic automaton.
        offers_changed: the enabled buttons changed.
    """

    offers_changed = Signal()
    table_toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        title = Label(ui_text("common.word.automaton"))
        title.setProperty("role", "heading")
        self.counts = ElidedLabel(fills=True)
        self.all_button = tool_button("", ui_text("automaton.header.all.tip"), checkable=True)
        self.bytes_button = _toggle("bytes")
        self.merge_button = _toggle("merge")
        self.nfa_button = _toggle("nfa")
        self.graph_button = _toggle("graph")
        self.table_button = _toggle("table")
        self.schema_map_button = _toggle("map")
        self.schema_map_button.hide()  # until there is a schema
        self.more_button = icon_button(
            "ph.dots-three-vertical", ui_text("common.button.more"), ui_text("automaton.header.more.tip")
        )
        self.more_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more_button.hide()  # until there is a menu
        self.graph_button.setChecked(True)
        self._views = QButtonGroup(self)
        for button in (self.graph_button, self.table_button, self.schema_map_button):
            self._views.addButton(button)

        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(title)
        layout.addSpacing(theme.SPACE_XS)
        layout.addWidget(self.counts, 1)
        details = self.all_button, self.bytes_button, self.merge_button, self.nfa_button
        views = self.schema_map_button, self.graph_button, self.table_button
        for button in (*details, *views, self.more_button):
            layout.addWidget(button)
        self.all_button.hide()
        self.bytes_button.hide()
        self.merge_button.hide()

        self._views.buttonClicked.connect(lambda _: self.table_toggled.emit())
        self.all_toggled = self.all_button.toggled
        self.bytes_toggled = self.bytes_button.toggled
        self.merge_toggled = self.merge_button.toggled
        self.nfa_toggled = self.nfa_button.toggled

    @property
    def shows_schema_map(self) -> bool:
        """Return whether the map of a schema is chosen."""
        return self.schema_map_button.isChecked()

    def offer_schema_map(self, *, offered: bool) -> None:
        """Offer the map of a schema, or leave it for the drawing."""
        self.schema_map_button.setVisible(offered)
        if not offered and self.shows_schema_map:
            self.graph_button.setChecked(True)
        self.offers_changed.emit()

    @property
    def shows_table(self) -> bool:
        """Return whether the table is chosen."""
        return self.table_button.isChecked()

    def show_counts(
        self, texts: tuple[str, ...], *, is_whole: bool, draws_all: bool, total: int, limit: int, has_bytes: bool
    ) -> None:
        """Show how much is drawn of how much, and update the buttons.

        Args:
            texts: the counts, in full and in shorter forms.
            is_whole: whether all states are drawn; otherwise drawing all is offered.
            draws_all: whether they are drawn because the user chose that.
            total: the number of states.
            limit: the maximum number of states drawn.
            has_bytes: whether there are states inside characters.
        """
        self.counts.set_text(*texts)
        was_blocked = self.all_button.blockSignals(True)
        self.all_button.setChecked(is_whole and draws_all)
        self.all_button.blockSignals(was_blocked)
        self.all_button.setVisible(not is_whole or self.all_button.isChecked())
        self.all_button.setEnabled(total <= limit)
        self.all_button.setText(
            ui_text("automaton.header.all.fragment.label", total=total)
            if total <= limit
            else ui_text("automaton.header.all.fragment.too_many", limit=limit)
        )
        self.bytes_button.setVisible(has_bytes)
        self.offers_changed.emit()

    def offer_merging(self, *, offered: bool) -> None:
        """Offer to draw counters and forced runs with all of their states, if there are any."""
        self.merge_button.setVisible(offered)
        self.merge_button.setEnabled(offered)
        self.offers_changed.emit()

    def set_menu(self, menu: QMenu) -> None:
        """Set the menu of further commands."""
        give_menu(self.more_button, menu)
        self.more_button.show()

    def set_enabled(self, enabled: bool) -> None:
        """Enable the buttons that need an automaton."""
        for button in (self.graph_button, self.table_button, self.nfa_button):
            button.setEnabled(enabled)
        if not enabled:
            self.counts.set_text("")
            self.all_button.hide()
            self.bytes_button.hide()
            self.merge_button.hide()
            self.offers_changed.emit()


class LevelBar(QFrame):
    """Shows the current level, with buttons to go elsewhere.

    Signals:
        rule_wanted: the name of a rule or region to open; None for all of them.
        level_wanted: a `Level`.
        back_wanted, forward_wanted: the previous view, and the next one.
    """

    rule_wanted = Signal(object)
    level_wanted = Signal(Level)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.back_button = tool_button("←", name=ui_text("automaton.levels.back.label"))
        self.forward_button = tool_button("→", name=ui_text("automaton.levels.forward.label"))
        self.up_button = tool_button("‹", clicked=lambda: self.rule_wanted.emit(None))
        set_tip(self.back_button, ui_text("automaton.levels.back.tip"), "automaton.back")
        set_tip(self.forward_button, ui_text("automaton.levels.forward.tip"), "automaton.forward")
        self.rule_box = QComboBox()
        self.rule_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.rule_box.setMinimumContentsLength(9)
        self.rule_box.setMaximumWidth(220)
        self.rule_box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.note = ElidedLabel(fills=True)
        self.note.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.rules_button = tool_button(
            ui_text("automaton.levels.map.rule"), ui_text("automaton.levels.map.tip"), checkable=True
        )
        self.live_button = tool_button(
            ui_text("automaton.levels.live.label"), ui_text("automaton.levels.live.tip"), checkable=True
        )
        self.tokens_button = tool_button(ui_text("common.word.tokens"), checkable=True)
        set_tip(self.tokens_button, ui_text("automaton.levels.tokens.tip"), "automaton.tokens")
        self._choice = QButtonGroup(self)
        for button in (self.rules_button, self.live_button, self.tokens_button):
            self._choice.addButton(button)
        for button in (self.back_button, self.forward_button):
            button.setEnabled(False)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_XS)
        for widget in (self.back_button, self.forward_button, self.up_button, self.rule_box):
            row.addWidget(widget)
        row.addWidget(self.note, 1)
        for button in (self.rules_button, self.live_button, self.tokens_button):
            row.addWidget(button)
        self.hide()
        self.back_wanted = self.back_button.clicked
        self.forward_wanted = self.forward_button.clicked
        self.rule_box.activated.connect(self._choose)
        for button, level in (
            (self.rules_button, Level.MAP),
            (self.live_button, Level.PART),
            (self.tokens_button, Level.TOKENS),
        ):
            button.clicked.connect(lambda _on=True, level=level: self.level_wanted.emit(level))

    def show_levels(self, levels: Levels | None, view: ViewState, *, back: bool = False, forward: bool = False) -> None:
        """Show the current level and the other ones; `show_note` shows what is omitted.

        Args:
            levels: the automaton; None for none.
            view: the current view.
            back: whether there is a previous view.
            forward: whether there is a next view.
        """
        self.setVisible(levels is not None)
        if levels is None:
            return
        self.back_button.setEnabled(back)
        self.forward_button.setEnabled(forward)
        has_map, level = bool(levels.names), levels.level(view)
        map_title = ui_text(f"automaton.levels.map.{levels.noun}")
        self.rules_button.setText(map_title)
        self.live_button.setVisible(has_map)
        self.up_button.setVisible(has_map)
        self.rule_box.setVisible(has_map and level in (Level.MAP, Level.ONE))
        self.up_button.setText(f"‹ {map_title}")
        set_tip(self.up_button, ui_text(f"automaton.levels.up.{levels.noun}"), "automaton.up")
        self.up_button.setEnabled(level is not Level.MAP)
        self.rule_box.setAccessibleName(ui_text(f"automaton.levels.choice.{levels.noun}"))
        self.rule_box.setToolTip(plain_text(ui_text(f"automaton.levels.choice_tip.{levels.noun}")))
        if has_map:
            self._fill(levels, view)
        shown = {Level.TOKENS: self.tokens_button, Level.PART: self.live_button if has_map else self.rules_button}
        is_all = has_map and level is Level.PART and view.draws_all and not view.follows
        self._choice.setExclusive(False)  # if all states are drawn, no level is checked
        for button in self._choice.buttons():
            button.setChecked(not is_all and button is shown.get(level, self.rules_button))
        self._choice.setExclusive(True)

    def show_note(self, notes: tuple[str, ...], *, is_lost: bool) -> None:
        """Show what the drawing of the rules omits.

        Args:
            notes: one sentence each.
            is_lost: whether the text is omitted, so that there are no live states.
        """
        if not notes:
            self.note.set_text("")
            return
        in_full = " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)
        if is_lost:
            long, *shorter = (ui_text(f"automaton.note.not_drawn.{form}") for form in _FORMS)
            self.note.set_text(f"{long}. {in_full}", long, *shorter)
        else:
            self.note.set_text(in_full, *(ui_text(f"automaton.note.plain.{form}") for form in _FORMS))

    def show_breadcrumb(self, text: str, *shorter: str) -> None:
        """Say what part is shown, behind the breadcrumb."""
        self.note.set_text(text, *shorter)

    def _fill(self, levels: Levels, view: ViewState) -> None:
        all_of_them = ui_text(f"automaton.levels.all_{levels.noun}", count=len(levels.names))
        names = [all_of_them, *levels.names]
        blocker = QSignalBlocker(self.rule_box)
        if [self.rule_box.itemText(row) for row in range(self.rule_box.count())] != names:
            self.rule_box.clear()
            self.rule_box.addItems(names)
        number = levels.rule_number(view)
        self.rule_box.setCurrentIndex(0 if number is None else 1 + number)
        del blocker

    def _choose(self, row: int) -> None:
        self.rule_wanted.emit(None if row == 0 else self.rule_box.itemText(row))


def breadcrumb(levels: Levels, view: ViewState) -> tuple[str, ...]:
    """Return the name of the current part, and shorter forms; nothing if the bar shows it already."""
    level = levels.level(view)
    if level is Level.TOKENS and levels.tokens is not None:
        total, is_live = levels.tokens.total, view.tokens == LIVE_STATE
        state = (
            ui_text("automaton.location.fragment.live")
            if is_live
            else ui_text("session.run.fragment.state", state=view.tokens)
        )
        return (
            ui_text("automaton.location.tokens", state=state, total=total),
            ui_text("automaton.location.tokens_short", total=total),
        )
    if view.centre is not None:
        return tuple(ui_text(f"automaton.location.centre.{form}", state=view.centre) for form in _FORMS[:2])
    if level is Level.PART and levels.names and view.draws_all and not view.follows:
        return (ui_text("automaton.location.whole"),)
    if level is Level.PART and levels.names:
        return ui_text("automaton.location.live"), ui_text("automaton.levels.live.label")
    return ()


class Footer(QWidget):
    """The line of details, the buttons of its panels, and the zoom buttons."""

    def __init__(self, view: GraphView) -> None:
        super().__init__()
        self.details = ElidedLabel(fills=True)
        self.details.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
        self.find_button = icon_button("ph.magnifying-glass", ui_text("common.button.find"), "")
        set_tip(self.find_button, ui_text("automaton.footer.find.tip"), "automaton.find")
        self.stacks_button = _panel_button("ph.stack", "stacks")
        self.coverage_button = _panel_button("ph.checks", "coverage")
        self.map_button = _panel_button("ph.map-trifold", "map")
        self.out_button = tool_button("−", name=ui_text("automaton.footer.zoom_out.label"))
        self.fit_button = tool_button(ui_text("automaton.footer.fit.label"))
        self.in_button = tool_button("+", name=ui_text("automaton.footer.zoom_in.label"))
        set_tip(self.out_button, ui_text("automaton.footer.zoom_out.tip"), "automaton.zoom_out")
        set_tip(self.fit_button, ui_text("automaton.footer.fit.tip"), "automaton.fit")
        set_tip(self.in_button, ui_text("automaton.footer.zoom_in.tip"), "automaton.zoom_in")
        self._buttons = (self.out_button, self.fit_button, self.in_button)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, theme.SPACE_XS, 0)
        row.setSpacing(0)
        row.addWidget(self.details, 1)
        for own in (self.find_button, self.stacks_button, self.coverage_button, self.map_button):
            row.addWidget(own)
        for button, act in (
            (self.out_button, view.zoom_out),
            (self.fit_button, view.fit),
            (self.in_button, view.zoom_in),
        ):
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the drawing below them keeps the focus
            button.clicked.connect(act)
            row.addWidget(button)
        self._zoom, self._in_view = 1.0, (0, 0)
        view.zoomed.connect(self._show_zoom)
        view.states_in_view.connect(self._show_in_view)

    def show_zoom_buttons(self, shown: bool) -> None:
        """Show the buttons if there is a drawing to zoom."""
        for button in (*self._buttons, self.coverage_button, self.map_button):
            button.setVisible(shown)

    def count_stacks(self, number: int) -> None:
        """Show a number beside the icon of the stacks; nothing for 0."""
        self.stacks_button.setText(f"{number:,}" if number else "")
        has_both = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if number else Qt.ToolButtonStyle.ToolButtonIconOnly
        self.stacks_button.setToolButtonStyle(has_both)

    def _show_zoom(self, zoom: float) -> None:
        self._zoom = zoom
        self._show_in_view(*self._in_view)

    def _show_in_view(self, shown: int, total: int) -> None:
        """Say on the button that fits the drawing how many states there are, if some of them are not in view."""
        self._in_view = shown, total
        is_all = shown >= total
        label = ui_text("automaton.footer.fit.label") if is_all else ui_text("automaton.footer.fit.more", total=total)
        tip = ui_text("automaton.footer.fit.zoom", zoom=self._zoom)
        if not is_all:
            tip = ui_text("automaton.footer.fit.part", shown=shown, total=total, tip=tip)
        if self.fit_button.text() != label:
            self.fit_button.setText(label)
            self.fit_button.setAccessibleName(label)
        set_tip(self.fit_button, tip, "automaton.fit")


class StackPanel(QTreeWidget):
    """One line for each stack, the innermost rule first; below it, one for each open rule.

    Signals:
        picked: the selected frames, innermost first; empty for none.
        span_wanted: a source span to go to.
    """

    frames_selected = Signal(tuple)
    span_wanted = Signal(Span)

    def __init__(self) -> None:
        super().__init__()
        self._position: GrammarPosition | None = None
        self._source: SourceText | None = None
        self.setAccessibleName(ui_text("automaton.stacks.name"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setColumnCount(2)
        self.setHeaderLabels([ui_text("automaton.stacks.column.rules"), ui_text("automaton.stacks.column.next")])
        self.setRootIsDecorated(True)
        self.setIndentation(theme.SPACE_L)
        self.setUniformRowHeights(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMinimumHeight(self.fontMetrics().height() * 5)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
        self.header().setStretchLastSection(False)
        self.header().resizeSection(1, 170)
        self.header().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.itemSelectionChanged.connect(self._emit_picked)
        self.itemActivated.connect(lambda item, _column: self._go_to_source(item))

    @property
    def count(self) -> int:
        """Return the number of stacks, as far as they are counted."""
        return 0 if self._position is None else len(self._position.stacks) + self._position.more

    def show_position(self, position: GrammarPosition | None, source: SourceText | None = None) -> None:
        """Show other stacks; the selection is kept if possible."""
        if (
            self._position is not None
            and position is not None
            and position.stacks == self._position.stacks
            and source == self._source
        ):
            return
        chosen, expanded = self._names_of(self.currentItem()), self._expanded()
        self._position, self._source = position, source
        was_blocked = self.blockSignals(True)
        self.clear()
        for stack in position.stacks if position is not None else ():
            item = self._line(stack)
            self.addTopLevelItem(item)
            item.setExpanded(self._names_of(item) in expanded)
            if chosen and self._names_of(item) == chosen:
                self.setCurrentItem(item)
        if position is not None and position.more:
            self._note(ui_text("automaton.stacks.more", count=position.more))
        if position is not None and not position.stacks:
            self._note(ui_text("automaton.stacks.dead"))
        self.blockSignals(was_blocked)
        self._emit_picked()

    def _line(self, stack: OpenStack) -> QTreeWidgetItem:
        names = [frame.name for frame in stack.frames]
        if len(names) > _SHOWN:
            names = [
                *names[: _SHOWN - 2],
                ui_text("automaton.stacks.fragment.hidden", count=len(names) - _SHOWN + 1),
                names[-1],
            ]
        expects, end = stack.expects, ui_text("common.fragment.end") if stack.may_end else ""
        if expects and end:
            expects = ui_text("common.fragment.or", first=expects, second=end)
        path = " › ".join(reversed(names)) or ui_text("automaton.stacks.fragment.root")
        item = QTreeWidgetItem([path, expects or end])
        item.setFont(1, theme.mono_font(-0.5))
        item.setData(0, _FRAMES, stack.frames)
        item.setToolTip(0, plain_text("\n".join(frame.name for frame in stack.frames)))
        item.setToolTip(1, plain_text(item.text(1)))
        if len(stack.frames) > 1:
            for number, frame in enumerate(stack.frames):
                if stack.left_out and number == len(stack.frames) // 2:
                    item.addChild(
                        QTreeWidgetItem([ui_text("automaton.stacks.fragment.left_out", count=stack.left_out)])
                    )
                item.addChild(self._frame(frame))
        return item

    def _frame(self, frame: OpenFrame) -> QTreeWidgetItem:
        texts = [" ".join(self._source.excerpt(span).split()) for span in frame.spans] if self._source else []
        follows = " | ".join(
            [*dict.fromkeys(texts), *([ui_text("automaton.stacks.fragment.end_of_rule")] if frame.may_end else [])]
        )
        item = QTreeWidgetItem([frame.name, follows[:_LONGEST]])
        item.setFont(1, theme.mono_font(-0.5))
        item.setData(0, _FRAMES, (frame,))
        item.setToolTip(1, plain_text(ui_text("automaton.stacks.frame", texts=follows)))
        return item

    def _note(self, text: str) -> None:
        item = QTreeWidgetItem([text])
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.addTopLevelItem(item)
        item.setFirstColumnSpanned(True)

    def _emit_picked(self) -> None:
        items = self.selectedItems()
        self.frames_selected.emit(tuple(items[0].data(0, _FRAMES) or ()) if items else ())

    def _go_to_source(self, item: QTreeWidgetItem) -> None:
        frames: tuple[OpenFrame, ...] = item.data(0, _FRAMES) or ()
        span = next((span for frame in frames for span in frame.spans), None)
        if span is not None:
            self.span_wanted.emit(span)

    def _expanded(self) -> set[tuple[str, ...]]:
        items = (self.topLevelItem(row) for row in range(self.topLevelItemCount()))
        return {self._names_of(item) for item in items if item is not None and item.isExpanded()}

    def _names_of(self, item: QTreeWidgetItem | None) -> tuple[str, ...]:
        frames: tuple[OpenFrame, ...] = (item.data(0, _FRAMES) or ()) if item is not None else ()
        return tuple(frame.name for frame in frames)


class StatesTable(QTableView):
    """The table of states and edges.

    Signals:
        menu_requested(row, position): a right click, or the menu key; the row is -1 for none, the position that on the
            screen.
    """

    menu_requested = Signal(int, QPoint)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu of a row; from the keyboard, of the current one."""
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if is_by_key else self.indexAt(event.pos())
        corner = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        self.menu_requested.emit(index.row(), corner if is_by_key else event.globalPos())
        event.accept()


def states_table(model: QAbstractTableModel) -> StatesTable:
    """Create the table of states and edges."""
    table = StatesTable()
    _configure(table, model, ui_text("automaton.states.name"))
    metrics = QFontMetrics(theme.ui_font())
    for column, sample in (
        (STATE, "12345 (start)"),
        (HERE, "● here"),
        (ACCEPTS, "◎ accepts"),
        (MARKS, "◉ breakpoint"),
    ):
        table.setColumnWidth(column, metrics.horizontalAdvance(sample) + 2 * theme.SPACE_M)
    for column in (LEADS_TO, READS):
        table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
    return table


def token_table(model: QAbstractTableModel) -> QTableView:
    """Create the table of the target states of tokens."""
    table = QTableView()
    _configure(table, model, ui_text("automaton.states.tokens_name"))
    metrics = QFontMetrics(theme.ui_font())
    probability = model.headerData(MASS, Qt.Orientation.Horizontal)
    after = ui_text("generation.zone.fragment.after", text="“something”")
    for column, sample in enumerate(("a-rule-name", "[a-zA-Z]  ", after, "131,072 ", f"{probability} ")):
        table.setColumnWidth(column, metrics.horizontalAdvance(sample) + 2 * theme.SPACE_M)
    table.horizontalHeader().setSectionResizeMode(EXAMPLES, QHeaderView.ResizeMode.Stretch)
    return table


def _toggle(name: str) -> QToolButton:
    label, tip = ui_text(f"automaton.header.{name}.label"), ui_text(f"automaton.header.{name}.tip")
    return tool_button(label, tip, checkable=True)


def _panel_button(icon: str, name: str) -> QToolButton:
    label, tip = ui_text(f"automaton.footer.{name}.label"), ui_text(f"automaton.footer.{name}.tip")
    return icon_button(icon, label, tip, checkable=True)


def _configure(table: QTableView, model: QAbstractTableModel, name: str) -> None:
    table.setModel(model)
    table.setAccessibleName(name)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setShowGrid(False)
    table.setAlternatingRowColors(True)
    table.setTabKeyNavigation(False)
    table.setWordWrap(False)
    table.verticalHeader().hide()
    # Rows of one height and columns of an estimated width: measuring 20,000 rows would block the window.
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    table.verticalHeader().setDefaultSectionSize(QFontMetrics(theme.ui_font()).height() + theme.SPACE_S)
    table.horizontalHeader().setDefaultAlignment(table.horizontalHeader().defaultAlignment().AlignLeft)
    table.horizontalHeader().setHighlightSections(False)
