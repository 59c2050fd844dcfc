"""The comparison of installed engines on the grammar: verdicts, differences by cause, and measurements."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QScrollArea,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import capitalised, ui_text
from app.models.rows import Index, RowsModel, rest_of_row
from app.panes.engines.figures import FiguresChart
from app.theme.buttons import push_button, tool_button
from app.theme.labels import Label, plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.keyboard import delegate_focus
from app.workers.protocol import Progress
from app.workers.requests.engines import EngineFigures, EngineList, MaskDifference, MasksAnswer
from engine.source import Span

OWN: Final = "turnstile"
ENGINE, CAUSE, PREFIX, TOKENS, TEXT = range(5)
_COLUMNS: Final = ("engine", "cause", "prefix", "tokens", "text")
_ROW_HEIGHT: Final = 25
_BAR: Final = 4


class MaskDifferencesModel(RowsModel):
    """One row for each cause."""

    titles: tuple[str, ...] = tuple(ui_text(f"engines.column.{name}") for name in _COLUMNS)
    tips: tuple[str, ...] = tuple(ui_text(f"engines.tip.{name}") for name in _COLUMNS)
    numbers: frozenset[int] = frozenset()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the cells; a cell is spoken with the rest of its row."""
        if index.isValid() and role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{index.data()}, {rest_of_row(index)}"
        return super().data(index, role)

    def text(self, row: MaskDifference, column: int) -> str:
        """Return the text of a cell."""
        sign = "+" if row.is_gained else "\N{MINUS SIGN}"
        tokens = f"{sign} {row.tokens}" if row.tokens else ""
        text = ui_text("engines.no_text") if row.text is None else row.text
        return (row.engine, row.cause, row.prefix, tokens, text)[column]

    def look(self, row: MaskDifference, column: int, role: int) -> object:
        """Return the font of texts, and the colour of differences in form."""
        match role:
            case Qt.ItemDataRole.FontRole if column in (PREFIX, TOKENS) or (column == TEXT and row.text is not None):
                return theme.mono_font()
            case Qt.ItemDataRole.ForegroundRole if row.is_form or (column == TEXT and row.text is None):
                return theme.colour(theme.Role.MUTED)
        return None

    def tip(self, row: MaskDifference, column: int) -> str:
        """Return the bytes of a prefix, the engine that accepts a text, or what the difference is."""
        if column == PREFIX:
            return ui_text("engines.bytes", bytes=row.prefix_bytes or "–")
        if column == TEXT and row.text is not None:
            return ui_text("engines.accepted", engine=row.accepted_by, text=row.text)
        if column == CAUSE:
            return ui_text("engines.prefixes", cause=row.cause, count=row.prefixes)
        return ui_text("engines.gained" if row.is_gained else "engines.lost", engine=row.engine)


class EnginesPane(QFrame):
    """Compares engines, and lists their differences.

    Signals:
        listed(): the pane is shown and wants the installed engines.
        wanted(first, others): compare an engine with others.
        cancelled(): stop.
        span_wanted(Span): show a place of the grammar.
        test_wanted(text, accepts): keep a text as a test string.
    """

    listed = Signal()
    wanted = Signal(str, tuple)
    cancelled = Signal()
    span_wanted = Signal(Span)
    test_wanted = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAccessibleName(ui_text("engines.name"))
        self._is_running = False
        self._grammar = self._compared = self._first_title = ""
        self._names: tuple[str, ...] = ()
        self._installed: tuple[str, ...] = ()
        self._servers: tuple[str, ...] = ()
        self.first = _engine_box("engine-first", ui_text("engines.first"))
        self.second = _engine_box("engine-second", ui_text("engines.second"))
        self.run_button = push_button(ui_text("engines.compare"), ui_text("engines.compare_tip"), clicked=self._on_run)
        self.run_button.setObjectName("engines-compare")
        self.summary = ElidedLabel(fills=True)
        self.test_button = tool_button(
            ui_text("engines.keep"), ui_text("engines.keep_tip"), role="outlined", clicked=self._keep_as_test
        )
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(_BAR)
        self.bar.hide()
        self.model = MaskDifferencesModel(self)
        self.table = _table(self.model)
        self.hint = Label(ui_text("engines.teaching"), wraps=True)
        self.hint.setProperty("role", "muted")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.hint.setMargin(theme.SPACE_S)
        self.absent = Label(wraps=True)
        self.absent.setProperty("role", "muted")
        self.absent.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.chart = FiguresChart()
        self._scroll = QScrollArea()
        self._pages = QStackedWidget()
        self._build()
        self.run_button.setEnabled(False)
        self._show_figures(())
        self._show_hint(ui_text("engines.teaching"))

    def showEvent(self, event: QShowEvent) -> None:
        """Request the installed engines, which the user may just have installed."""
        super().showEvent(event)
        self.listed.emit()

    def show_engines(self, found: EngineList) -> None:
        """Offer the installed engines, and name the others with what installs them."""
        self._installed = (OWN, *(name for name, _ in found.engines))
        self._offer()
        packages = " ".join(dict.fromkeys(package for _, package in found.absent))
        listed = ", ".join(name for name, _ in found.absent)
        self.absent.setText(ui_text("engines.absent", names=listed, packages=packages) if listed else "")
        self.absent.setVisible(bool(listed))
        if len(self._names) == 1 and not self.model.rows:
            self._show_hint(ui_text("engines.none"))

    def show_servers(self, addresses: tuple[str, ...]) -> None:
        """Offer the servers that are attached or known."""
        self._servers = addresses
        if self._installed:
            self._offer()

    def _offer(self) -> None:
        """Offer installed engines and servers; what was chosen stays chosen."""
        names = (*self._installed, *self._servers)
        if names != self._names:
            first, second = self.first.currentText(), self.second.currentData()
            self._names = names
            self.first.clear()
            self.first.addItems(list(names))
            self.first.setCurrentIndex(max(0, self.first.findText(first)))
            self._fill_second()
            if (chosen := self.second.findData(second)) > 0:
                self.second.setCurrentIndex(chosen)
        self.run_button.setEnabled(self._is_running or len(names) > 1)

    def show_progress(self, progress: Progress) -> None:
        """Show how far the comparison is."""
        if self._is_running:
            self.bar.setRange(0, progress.total or 0)
            self.bar.setValue(progress.done)
            self.summary.set_text(capitalised(progress.what))

    def show_answer(self, answer: MasksAnswer) -> None:
        """Show the differences and the measurements."""
        self._set_running(is_running=False)
        if answer.error:
            self._show_hint(answer.error)
            return
        self._first_title = answer.figures[0].engine if answer.figures else self.first.currentText()
        self.summary.set_text(" · ".join(capitalised(one.sentence) for one in answer.verdicts))
        self.model.show_rows(answer.differences)
        self._show_figures(answer.figures, answer.tokens)
        checked = sum(one.checked for one in answer.verdicts)
        if answer.differences:
            self._pages.setCurrentWidget(self.table)
            self.table.setCurrentIndex(self.model.index(0, CAUSE))
        else:
            self.hint.setText(ui_text("engines.equal", count=checked) if checked else self.summary.text())
            self._pages.setCurrentWidget(self.hint)
        self._enable()

    def set_grammar(self, text: str) -> None:
        """Say that the differences are those of an earlier text, if they are."""
        self._grammar = text
        if self._compared and text != self._compared and not self._is_running:
            self.summary.set_text(ui_text("engines.stale"))

    def forget(self) -> None:
        """Drop the differences: they belong to another grammar."""
        if self._is_running:
            self.cancelled.emit()
        self._set_running(is_running=False)
        self._compared = ""
        self._show_figures(())
        self._show_hint(ui_text("engines.teaching"))
        self.listed.emit()

    def _on_run(self) -> None:
        if self._is_running:
            self._set_running(is_running=False)
            self.cancelled.emit()
            return
        self._set_running(is_running=True)
        self._compared = self._grammar
        chosen = self.second.currentData()
        others = (
            tuple(name for name in self._installed if name != self.first.currentText()) if not chosen else (chosen,)
        )
        self.wanted.emit(self.first.currentText(), others)

    def _set_running(self, *, is_running: bool) -> None:
        self._is_running = is_running
        self.bar.setRange(0, 0)
        self.bar.setVisible(is_running)
        self.run_button.setText(ui_text("common.button.cancel") if is_running else ui_text("engines.compare"))
        self.summary.set_text("")

    def _show_hint(self, text: str) -> None:
        self.hint.setText(text)
        self.model.show_rows(())
        self._pages.setCurrentWidget(self.hint)
        self._enable()

    def _show_figures(self, figures: tuple[EngineFigures, ...], tokens: int = 0) -> None:
        self.chart.show_figures(figures, tokens)
        self._scroll.setVisible(bool(figures))

    def _fill_second(self) -> None:
        self.second.clear()
        self.second.addItem(ui_text("engines.all"), "")
        for name in self._names:
            if name != self.first.currentText():
                self.second.addItem(name, name)
        self.second.setCurrentIndex(1 if self.second.count() > 1 else 0)

    def _row(self) -> MaskDifference | None:
        index = self.table.currentIndex()
        return self.model.rows[index.row()] if index.isValid() and self.model.rows else None

    def _enable(self) -> None:
        row = self._row()
        self.test_button.setEnabled(row is not None and row.text is not None)

    def _show_place(self, index: Index) -> None:
        span = self.model.rows[index.row()].span
        if span is not None:
            self.span_wanted.emit(span)

    def _keep_as_test(self) -> None:
        """Keep the text that shows a difference, with the verdict of the first engine."""
        row = self._row()
        if row is not None and row.text is not None:
            self.test_wanted.emit(row.text, row.accepted_by == self._first_title)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        head.setSpacing(theme.SPACE_S)
        self._pages.addWidget(self.hint)
        self._pages.addWidget(self.table)
        scroll = self._scroll
        scroll.setAccessibleName(ui_text("engines.figures.name"))
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self.chart)
        scroll.setWidgetResizable(True)
        scroll.setFixedWidth(self.chart.sizeHint().width() + 2 * theme.SPACE_M)
        for background in (scroll.viewport(), self.chart):
            background.setAutoFillBackground(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(head)
        for widget in (self.first, Label(ui_text("engines.fragment.with")), self.second, self.run_button):
            head.addWidget(widget)
        head.addWidget(self.summary, 1)
        head.addWidget(self.test_button)
        layout.addWidget(self.bar)
        body = QHBoxLayout()
        body.setSpacing(theme.SPACE_M)
        layout.addLayout(body, 1)
        body.addWidget(self._pages, 1)
        body.addWidget(scroll)
        self.absent.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        layout.addWidget(self.absent)
        delegate_focus(self, self.table, self.first)
        self.first.activated.connect(lambda _index: self._fill_second())
        self.table.clicked.connect(self._show_place)
        self.table.activated.connect(self._show_place)
        self.table.selectionModel().selectionChanged.connect(lambda _now, _before: self._enable())


def _engine_box(name: str, title: str) -> QComboBox:
    box = QComboBox()
    box.setObjectName(name)
    box.setAccessibleName(title)
    box.setToolTip(plain_text(title))
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box


def _table(model: MaskDifferencesModel) -> QTableView:
    table = QTableView()
    table.setObjectName("engine-differences")
    table.setAccessibleName(ui_text("engines.table"))
    table.setModel(model)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    header.setSectionResizeMode(CAUSE, QHeaderView.ResizeMode.Stretch)
    for column, width in ((ENGINE, 100), (PREFIX, 130), (TOKENS, 110), (TEXT, 150)):
        table.setColumnWidth(column, width)
    return table
