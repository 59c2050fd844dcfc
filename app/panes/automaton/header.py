"""The bars around the drawing of the automaton pane, and its tables."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QTableView,
    QToolButton,
    QWidget,
)

from app import theme
from app.actions import set_tip
from app.graph.draw.view import GraphView
from app.models.states import ACCEPTS, HERE, LEADS_TO, MARKS, READS, STATE
from app.models.token_groups import EXAMPLES
from app.theme.buttons import give_menu, icon_button, tool_button
from app.theme.labels import Label
from app.widgets.elided_label import ElidedLabel


class AutomatonHeader(QFrame):
    """Title and counts on the left; detail buttons, and graph or table, on the right.

    Signals:
        table_toggled: graph or table was chosen.
        all_toggled: whether to draw all states, although they are many.
        bytes_toggled: whether to draw the states inside characters.
        merge_toggled: whether to draw each forced run as one edge.
        offers_changed: the enabled buttons changed.
    """

    offers_changed = Signal()
    table_toggled = Signal()
    all_toggled = Signal(bool)
    bytes_toggled = Signal(bool)
    merge_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        title = Label("Automaton")
        title.setProperty("role", "heading")
        self.counts = ElidedLabel(fills=True)
        self.all_button = tool_button(
            "Draw all", "Draw every state instead of those around the live one", checkable=True
        )
        self.bytes_button = tool_button(
            "Bytes", "Draw each byte, with the states within characters and texts", checkable=True
        )
        self.merge_button = tool_button(
            "Merge", "Draw each forced run, where the grammar leaves no choice, as one edge", checkable=True
        )
        self.graph_button = tool_button("Graph", "Show the automaton as a graph", checkable=True)
        self.table_button = tool_button("Table", "Show the states and edges as a table", checkable=True)
        self.more_button = icon_button("ph.dots-three-vertical", "More", "Layouts, pictures, and all else of this pane")
        self.more_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more_button.hide()  # until there is a menu
        self.graph_button.setChecked(True)
        self._views = QButtonGroup(self)
        for button in (self.graph_button, self.table_button):
            self._views.addButton(button)

        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(title)
        layout.addSpacing(theme.SPACE_XS)
        layout.addWidget(self.counts, 1)
        shown = self.all_button, self.bytes_button, self.merge_button, self.graph_button, self.table_button
        for button in (*shown, self.more_button):
            layout.addWidget(button)
        self.all_button.hide()
        self.bytes_button.hide()
        self.merge_button.hide()

        self._views.buttonClicked.connect(lambda _: self.table_toggled.emit())
        self.all_button.toggled.connect(self.all_toggled)
        self.bytes_button.toggled.connect(self.bytes_toggled)
        self.merge_button.toggled.connect(self.merge_toggled)

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
        self.all_button.setText(f"Draw all {total:,}" if total <= limit else f"Draw all (up to {limit:,})")
        self.bytes_button.setVisible(has_bytes)
        self.offers_changed.emit()

    def offer_merging(self, *, offered: bool, nothing: bool) -> None:
        """Enable the button that merges forced runs.

        Args:
            offered: whether states are drawn, and not rules, regions or tokens.
            nothing: whether merging is on and there are no runs.
        """
        self.merge_button.setVisible(offered)
        self.merge_button.setEnabled(offered)
        if nothing:
            self.counts.set_text(f"{self.counts.text()} · no forced run to merge", "no forced run to merge")
        self.offers_changed.emit()

    def set_menu(self, menu: QMenu) -> None:
        """Set the menu of further commands."""
        give_menu(self.more_button, menu)
        self.more_button.show()

    def set_enabled(self, enabled: bool) -> None:
        """Enable the buttons that need an automaton."""
        for button in (self.graph_button, self.table_button):
            button.setEnabled(enabled)
        if not enabled:
            self.counts.set_text("")
            self.all_button.hide()
            self.bytes_button.hide()
            self.merge_button.hide()
            self.offers_changed.emit()


class Footer(QWidget):
    """The line of details, the buttons of its panels, and the zoom buttons."""

    def __init__(self, view: GraphView) -> None:
        super().__init__()
        self.details = ElidedLabel(fills=True)
        self.details.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
        self.find_button = icon_button("ph.magnifying-glass", "Find", "")
        set_tip(self.find_button, "Find a state, a rule, a byte or a text", "automaton.find")
        self.stacks_button = icon_button("ph.stack", "Stacks", "Every way in which the match stands", checkable=True)
        self.coverage_button = icon_button(
            "ph.checks", "Coverage", "What the test strings or the generated outputs use of it", checkable=True
        )
        self.map_button = icon_button("ph.map-trifold", "Map", "The whole drawing in a corner", checkable=True)
        self.out_button = tool_button("−", name="Zoom out")
        self.fit_button = tool_button("Fit")
        self.in_button = tool_button("+", name="Zoom in")
        set_tip(self.out_button, "Zoom out, as the wheel does", "automaton.zoom_out")
        set_tip(self.fit_button, "Show the whole drawing", "automaton.fit")
        set_tip(self.in_button, "Zoom in, as the wheel does", "automaton.zoom_in")
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
        view.zoomed.connect(self._show_zoom)

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
        set_tip(self.fit_button, f"Show the whole drawing, now at {zoom:.0%}", "automaton.fit")


def states_table(model: QAbstractTableModel) -> QTableView:
    """Create the table of states and edges."""
    table = _table(model, "Automaton table")
    metrics = QFontMetrics(theme.ui_font())
    for column, sample in (
        (STATE, "12345 (start)"),
        (HERE, "● here"),
        (ACCEPTS, "◎ accepts"),
        (MARKS, "◉ breakpoint"),
        (READS, "x" * 14),
    ):
        table.setColumnWidth(column, metrics.horizontalAdvance(sample) + 2 * theme.SPACE_M)
    table.horizontalHeader().setSectionResizeMode(LEADS_TO, QHeaderView.ResizeMode.Stretch)
    return table


def _table(model: QAbstractTableModel, name: str) -> QTableView:
    table = QTableView()
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
    return table


def token_table(model: QAbstractTableModel) -> QTableView:
    """Create the table of the target states of tokens."""
    table = _table(model, "Tokens by where they lead")
    metrics = QFontMetrics(theme.ui_font())
    for column, sample in ((0, "after “something”"), (1, "131,072 "), (2, "Model gives ")):
        table.setColumnWidth(column, metrics.horizontalAdvance(sample) + 2 * theme.SPACE_M)
    table.horizontalHeader().setSectionResizeMode(EXAMPLES, QHeaderView.ResizeMode.Stretch)
    return table
