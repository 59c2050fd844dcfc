"""The parts of the automaton pane around its drawing: the bar above it, and the table."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTableView,
    QToolButton,
    QWidget,
)

from app import theme
from app.graph.view import GraphView
from app.models.states import ACCEPTS, HERE, LEADS_TO, READS, STATE
from app.panes.automaton.labels import ElidedLabel


class AutomatonHeader(QFrame):
    """Title and counts on the left; how much, and graph or table, on the right.

    Signals:
        table_toggled: the other of graph and table was chosen.
        all_toggled: whether all states are to be drawn, though they are many.
        bytes_toggled: whether the states within characters are to be drawn.
    """

    table_toggled = Signal()
    all_toggled = Signal(bool)
    bytes_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        title = QLabel("Automaton")
        title.setProperty("role", "heading")
        self.counts = ElidedLabel()
        self.counts.setContentsMargins(0, 0, 0, 0)
        self.all_button = compact_button(
            "Draw all", "Draw every state instead of those around the live one", checkable=True
        )
        self.bytes_button = compact_button(
            "Bytes", "Draw each byte, with the states within characters and texts", checkable=True
        )
        self.graph_button = compact_button("Graph", "Show the automaton as a graph", checkable=True)
        self.table_button = compact_button("Table", "Show the states and edges as a table", checkable=True)
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
        for button in (self.all_button, self.bytes_button, self.graph_button, self.table_button):
            layout.addWidget(button)
        self.all_button.hide()
        self.bytes_button.hide()

        self._views.buttonClicked.connect(lambda _: self.table_toggled.emit())
        self.all_button.toggled.connect(self.all_toggled)
        self.bytes_button.toggled.connect(self.bytes_toggled)

    @property
    def shows_table(self) -> bool:
        """Whether the table is chosen."""
        return self.table_button.isChecked()

    def show_counts(self, texts: tuple[str, ...], *, is_whole: bool, total: int, limit: int, has_bytes: bool) -> None:
        """Say how much is drawn of how much, and offer what else there is.

        Args:
            texts: the counts, in full and ever shorter.
            is_whole: whether all states are drawn; else all are offered.
            total: how many there are.
            limit: how many may be drawn.
            has_bytes: whether there are states within characters.
        """
        self.counts.say(*texts)
        was_blocked = self.all_button.blockSignals(True)
        self.all_button.setChecked(is_whole and self.all_button.isChecked())
        self.all_button.blockSignals(was_blocked)
        self.all_button.setVisible(not is_whole or self.all_button.isChecked())
        self.all_button.setEnabled(total <= limit)
        self.all_button.setText(f"Draw all {total:,}" if total <= limit else f"Draw all (up to {limit:,})")
        self.bytes_button.setVisible(has_bytes)

    def set_enabled(self, enabled: bool) -> None:
        """Enable what needs an automaton."""
        for button in (self.graph_button, self.table_button):
            button.setEnabled(enabled)
        if not enabled:
            self.counts.say("")
            self.all_button.hide()
            self.bytes_button.hide()


class Footer(QWidget):
    """The line of details, and the three buttons that zoom."""

    def __init__(self, view: GraphView) -> None:
        super().__init__()
        self.details = ElidedLabel()
        self.out_button = compact_button("−", "Zoom out (Ctrl+−, or the wheel)")
        self.fit_button = compact_button("Fit", "Show the whole drawing (Ctrl+0)")
        self.in_button = compact_button("+", "Zoom in (Ctrl++, or the wheel)")
        self._buttons = (self.out_button, self.fit_button, self.in_button)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, theme.SPACE_XS, 0)
        row.setSpacing(0)
        row.addWidget(self.details, 1)
        for button, act in (
            (self.out_button, view.zoom_out),
            (self.fit_button, view.fit),
            (self.in_button, view.zoom_in),
        ):
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the drawing under them has the keys
            button.clicked.connect(act)
            row.addWidget(button)
        view.zoomed.connect(self._show_zoom)

    def show_zoom_buttons(self, shown: bool) -> None:
        """Show the buttons where there is a drawing to zoom."""
        for button in self._buttons:
            button.setVisible(shown)

    def _show_zoom(self, zoom: float) -> None:
        self.fit_button.setToolTip(f"Show the whole drawing (Ctrl+0); now at {zoom:.0%}")


def states_table(model: QAbstractTableModel) -> QTableView:
    """The table of states and edges."""
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName("Automaton table")
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setShowGrid(False)
    table.setAlternatingRowColors(True)
    table.setTabKeyNavigation(False)
    table.setWordWrap(False)
    table.verticalHeader().hide()
    # Rows of one height and columns of a width guessed once: measuring 20,000 rows would block the window.
    metrics = QFontMetrics(theme.ui_font())
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    table.verticalHeader().setDefaultSectionSize(metrics.height() + theme.SPACE_S)
    for column, sample in ((STATE, "12345 (start)"), (HERE, "● here"), (ACCEPTS, "◎ accepts")):
        table.setColumnWidth(column, metrics.horizontalAdvance(sample) + 2 * theme.SPACE_M)
    table.setColumnWidth(LEADS_TO, metrics.horizontalAdvance("x" * 36))
    table.horizontalHeader().setSectionResizeMode(READS, QHeaderView.ResizeMode.Stretch)
    table.horizontalHeader().setDefaultAlignment(table.horizontalHeader().defaultAlignment().AlignLeft)
    table.horizontalHeader().setHighlightSections(False)
    return table


def compact_button(text: str, tip: str, *, checkable: bool = False) -> QToolButton:
    """A flat button for a bar."""
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(checkable)
    button.setAutoRaise(True)
    button.setProperty("role", "compact")
    return button
