"""Strategies that draw texts: a comparison, the particles of those that have some, and all outputs above a mass.

Each of the three is a page. Those with work of their own have a button that begins it and cancels it, a bar, and one
line that says what came of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QSizePolicy,
    QSpinBox,
    QSplitter,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabBar,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.panes.strategies.particles import ParticlesPage, page_head
from app.theme.buttons import push_button
from app.theme.labels import plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.keyboard import delegate_focus
from app.widgets.token_paint import tabular
from app.workers.protocol import Progress
from app.workers.requests.strategies import StrategiesComparison, StrategyFigures, TreeAnswer
from engine.decoding.strategies.decoders import DECODERS
from engine.decoding.strategies.found_texts import FoundText, Measure
from engine.source.number_format import duration, percent, percent_between
from engine.vocabulary.visible import visible

_PICKED: Final = ("local", "cars", "smc")
_COLUMNS: Final = ("strategy", "kl", "tv", "p_grammar", "accepted", "calls", "time")
_TREE_COLUMNS: Final = ("text", "given", "local", "model", "spellings")
_MOST_ROWS: Final = 1_000
_LIMITS: Final = ("samples", "calls")
_MOST: Final = 100_000
_ROW_HEIGHT: Final = 25
_LIST_HEIGHT: Final = 22
_BAR: Final = 4
_SHARE: Final = Qt.ItemDataRole.UserRole
_PADDING: Final = 8


class ShareDelegate(QStyledItemDelegate):
    """Paints a share as a bar from the left, with its number at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the size of a cell."""
        width = option.fontMetrics.horizontalAdvance("100.00%") + 2 * _PADDING
        return QSize(max(width, super().sizeHint(option, index).width()), _ROW_HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the bar behind the number."""
        share = index.data(_SHARE)
        if isinstance(share, float):
            box = QRectF(option.rect).adjusted(_PADDING / 2, 4, -_PADDING / 2, -4)
            box.setWidth(box.width() * min(share, 1.0))
            is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
            if not is_selected:
                painter.fillRect(box, theme.colour(theme.Role.ALLOWED_FILL))
        super().paint(painter, option, index)


class StrategyPage(QWidget):
    """A page whose button begins some work, and cancels it.

    Signals:
        cancelled(): stop, and keep what was found.
        opened(ids): open a text as a trace, by its tokens.

    Args:
        label: the text of the button.
        tip: its tool tip.
    """

    cancelled = Signal()
    opened = Signal(tuple)

    def __init__(self, label: str, tip: str) -> None:
        super().__init__()
        self._label, self._tip, self._refusal = label, tip, ""
        self._is_busy = False
        self.run_button = push_button(label, clicked=self._on_run)
        self.summary = ElidedLabel(fills=True)
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(_BAR)
        self.bar.setAccessibleName(ui_text("strategies.pane.progress"))

    def begin(self) -> None:
        """Show that the work has started."""
        self._is_busy = True
        self.bar.setRange(0, 0)
        self.clear()
        self.refresh()

    def stop(self, why: str) -> None:
        """Report why nothing more will come."""
        self._is_busy = False
        self.refresh(why)

    def forget(self) -> None:
        """Clear the page: what it shows belongs to another grammar, model or prompt."""
        self._is_busy = False
        self.clear()
        self.refresh()

    def set_refusal(self, why: str) -> None:
        """Set why the work cannot begin; empty if it can."""
        self._refusal = why
        self.refresh()

    def show_progress(self, progress: Progress) -> None:
        """Show how far the work is."""
        self.bar.setRange(0, progress.total or 0)
        self.bar.setValue(progress.done)
        self.summary.setText(ui_text("strategies.pane.running", name=progress.what))

    def clear(self) -> None:
        """Forget what was found."""

    def start(self) -> None:
        """Request the work."""

    def refresh(self, why: str = "") -> None:
        """Show whether the work can begin, and what came of it.

        Args:
            why: why it ended early; empty if it did not.
        """
        refusal = self._refusal or self.own_refusal
        self.run_button.setText(ui_text("common.button.cancel") if self._is_busy else self._label)
        self.run_button.setEnabled(self._is_busy or not refusal)
        self.run_button.setToolTip(plain_text(refusal or self._tip))
        self.bar.setVisible(self._is_busy)
        if not self._is_busy:
            self.summary.setText(why or refusal or self.result)

    @property
    def own_refusal(self) -> str:
        """Return what the user has to choose first; empty if nothing."""
        return ""

    @property
    def result(self) -> str:
        """Return what came of the work in a sentence."""
        return ""

    def _on_run(self) -> None:
        if self._is_busy:
            self.cancelled.emit()
        else:
            self.start()

    def lay_out(self, widgets: Sequence[QWidget], body: QWidget) -> None:
        """Arrange the page: what was found below the bar; some widgets and the button are in the head."""
        self.head = page_head(*widgets, self.run_button, self.summary)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(body, 1)


class ComparisonPage(StrategyPage):
    """Picks strategies, and shows what they draw.

    Signals:
        wanted(names, samples, most_calls): draw with these.
        answered(answer): there is another answer to show.
    """

    wanted = Signal(tuple, int, object)
    answered = Signal(StrategiesComparison)

    def __init__(self) -> None:
        super().__init__(ui_text("strategies.pane.compare"), ui_text("strategies.pane.compare_tip"))
        self._answer = StrategiesComparison(())
        self.run_button.setObjectName("strategies-compare")
        self.list = QListWidget()
        self.list.setObjectName("strategies-list")
        self.list.setAccessibleName(ui_text("strategies.pane.list"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        for strategy in DECODERS:
            item = QListWidgetItem(strategy.title)
            item.setData(Qt.ItemDataRole.UserRole, strategy.name)
            item.setToolTip(plain_text(strategy.description))
            item.setCheckState(Qt.CheckState.Checked if strategy.name in _PICKED else Qt.CheckState.Unchecked)
            item.setSizeHint(QSize(0, _LIST_HEIGHT))
            self.list.addItem(item)
        self.limit = QComboBox()
        self.limit.setAccessibleName(ui_text("strategies.pane.limit"))
        for name in _LIMITS:
            self.limit.addItem(ui_text(f"strategies.limit.fragment.{name}"), name)
        self.count = QSpinBox(minimum=1, maximum=_MOST, value=50)
        self.count.setAccessibleName(ui_text("strategies.pane.count"))
        self.figures = _table("strategies-figures", ui_text("strategies.pane.figures"))
        self.texts = _table("strategies-texts", ui_text("strategies.pane.texts"))
        self.texts.setItemDelegate(ShareDelegate(self.texts))
        texts = ((ui_text(f"strategies.column.{one}"), ui_text(f"strategies.column_tip.{one}")) for one in _COLUMNS)
        _set_columns(self.figures, *texts)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        for part, share in ((self.list, 2), (self.figures, 5), (self.texts, 6)):
            splitter.addWidget(part)
            splitter.setStretchFactor(splitter.count() - 1, share)
        splitter.setSizes([160, 610, 510])
        splitter.setChildrenCollapsible(False)
        self.lay_out((self.count, self.limit), splitter)
        self.list.itemChanged.connect(lambda _item: self.refresh())
        self.texts.cellActivated.connect(lambda row, _column: self.opened.emit(self._answer.texts[row].ids))
        self._fill()
        self.refresh()

    @property
    def picked(self) -> tuple[str, ...]:
        """Return the names of the strategies that are picked."""
        items = [self.list.item(row) for row in range(self.list.count())]
        return tuple(
            item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is Qt.CheckState.Checked
        )

    def show_answer(self, answer: StrategiesComparison | Progress) -> None:
        """Show what was drawn so far, or the progress."""
        if isinstance(answer, Progress):
            self.show_progress(answer)
            return
        self._answer, self._is_busy = answer, not answer.done
        self._fill()
        self.refresh()
        self.answered.emit(answer)

    def clear(self) -> None:
        """Forget what was drawn."""
        self._answer = StrategiesComparison(())
        self._fill()
        self.answered.emit(self._answer)

    def start(self) -> None:
        """Request a comparison."""
        count = self.count.value()
        self.wanted.emit(self.picked, count, count if self.limit.currentData() == "calls" else None)

    @property
    def own_refusal(self) -> str:
        """Return that a strategy is needed, if there is none."""
        return "" if self.picked else ui_text("strategies.pane.none_picked")

    @property
    def result(self) -> str:
        """Return the exact probability of the grammar in a sentence, or why it is unknown."""
        answer = self._answer
        if not answer.figures:
            return ui_text("strategies.pane.empty")
        if answer.p_grammar is None:
            return ui_text("strategies.pane.not_exact", reason=answer.why_not_exact) if answer.done else ""
        return ui_text("strategies.pane.exact", p=percent(answer.p_grammar), count=answer.count)

    def _fill(self) -> None:
        answer = self._answer
        self.figures.setRowCount(len(answer.figures))
        for row, figures in enumerate(answer.figures):
            for column, text in enumerate(_cells(figures)):
                item = QTableWidgetItem(text)
                item.setTextAlignment(_alignment(column))
                item.setFont(tabular(theme.ui_font()))
                item.setToolTip(plain_text(figures.why_not or _tip(figures, _COLUMNS[column])))
                self.figures.setItem(row, column, item)
        titles = [ui_text("strategies.column.text"), ui_text("strategies.column.exact")]
        titles += [DECODERS[one.name].title for one in answer.figures]
        _set_columns(self.texts, *((title, "") for title in titles))
        self.texts.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.texts.setRowCount(len(answer.texts))
        for row, one in enumerate(answer.texts):
            item = QTableWidgetItem(visible(one.text))
            item.setFont(theme.mono_font())
            item.setToolTip(plain_text(ui_text("strategies.pane.open_tip", text=visible(one.text))))
            self.texts.setItem(row, 0, item)
            for column, share in enumerate((one.exact, *one.weights), 1):
                item = QTableWidgetItem("–" if share is None else percent(share))
                item.setTextAlignment(_alignment(column))
                item.setFont(tabular(theme.ui_font()))
                item.setData(_SHARE, share)
                self.texts.setItem(row, column, item)
        for table in (self.figures, self.texts):
            table.setVisible(bool(answer.figures))


class TreePage(StrategyPage):
    """Searches all outputs above a mass, and lists them with their probabilities.

    Signals:
        wanted(measure, mass): search these.
    """

    wanted = Signal(Measure, float)

    def __init__(self) -> None:
        super().__init__(ui_text("strategies.tree.search"), ui_text("strategies.tree.search_tip"))
        self.run_button.setObjectName("tree-search")
        self._answer: TreeAnswer | None = None
        self.measure = QComboBox()
        self.measure.setAccessibleName(ui_text("strategies.tree.measure.name"))
        for measure in Measure:
            self.measure.addItem(ui_text(f"strategies.tree.measure.{measure.value}"), measure)
        self.mass = QDoubleSpinBox(minimum=0.001, maximum=100, value=1, decimals=3, suffix=" %")
        self.mass.setPrefix(f"{ui_text('strategies.tree.prefix')} ")
        self.mass.setAccessibleName(ui_text("strategies.tree.mass"))
        self.texts = _table("tree-texts", ui_text("strategies.tree.name"))
        self.texts.setItemDelegate(ShareDelegate(self.texts))
        columns = (
            (ui_text(f"strategies.tree.column.{one}"), ui_text(f"strategies.tree.column_tip.{one}"))
            for one in _TREE_COLUMNS
        )
        _set_columns(self.texts, *columns)
        self.texts.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.lay_out((self.measure, self.mass), self.texts)
        self.texts.cellActivated.connect(lambda row, _column: self._open(row))
        self.refresh()

    def show_answer(self, answer: TreeAnswer | Progress) -> None:
        """Show what was found so far, or the progress."""
        if isinstance(answer, Progress):
            self.show_progress(answer)
            return
        self._answer, self._is_busy = answer, not answer.done
        rows = answer.found.texts[:_MOST_ROWS]
        self.texts.setRowCount(len(rows))
        for row, one in enumerate(rows):
            self._fill_row(row, one)
        self.refresh()

    def clear(self) -> None:
        """Forget what was found."""
        self._answer = None
        self.texts.setRowCount(0)

    def start(self) -> None:
        """Request a search."""
        self.wanted.emit(Measure(self.measure.currentData()), self.mass.value() / 100)  # Qt keeps the text alone

    @property
    def result(self) -> str:
        """Return how much is listed in a sentence."""
        if self._answer is None:
            return ui_text("strategies.tree.empty")
        found = self._answer.found
        ending = "complete" if found.is_complete else "stopped"
        text = ui_text(f"strategies.tree.{ending}", count=len(found.texts), left=percent(found.left), calls=found.calls)
        between = percent_between(*found.p_grammar)
        return f"{text} · {ui_text('strategies.tree.p_grammar', p=between)}"

    def _open(self, row: int) -> None:
        if self._answer is not None:
            self.opened.emit(self._answer.found.texts[row].ids)

    def _fill_row(self, row: int, one: FoundText) -> None:
        item = QTableWidgetItem(visible(one.text))
        item.setFont(theme.mono_font())
        item.setToolTip(plain_text(ui_text("strategies.pane.open_tip", text=visible(one.text))))
        self.texts.setItem(row, 0, item)
        low, high = one.p_given
        cells = ((percent_between(low, high), low), (percent(one.p_local), one.p_local), (percent(one.p), one.p))
        for column, (text, share) in enumerate((*cells, (f"{one.spellings:,}", None)), 1):
            item = QTableWidgetItem(text)
            item.setTextAlignment(_alignment(column))
            item.setFont(tabular(theme.ui_font()))
            item.setData(_SHARE, share)
            self.texts.setItem(row, column, item)


class StrategiesPane(QFrame):
    """The pages of strategies that draw texts; the head of a page is beside the tabs, since the pane is seldom high."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAccessibleName(ui_text("strategies.pane.name"))
        self.comparison, self.particles, self.tree = ComparisonPage(), ParticlesPage(), TreePage()
        self.tabs, heads, bodies = QTabBar(), QStackedWidget(), QStackedWidget()
        self.tabs.setObjectName("strategies-pages")
        self.tabs.setExpanding(False)
        pages: tuple[StrategyPage | ParticlesPage, ...] = (self.comparison, self.particles, self.tree)
        for page, name in zip(pages, ("comparison", "particles", "tree"), strict=True):
            self.tabs.addTab(ui_text(f"strategies.page.{name}"))
            heads.addWidget(page.head)
            bodies.addWidget(page)
        heads.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for stack in (heads, bodies):
            self.tabs.currentChanged.connect(stack.setCurrentIndex)
        self.comparison.answered.connect(lambda answer: self.particles.show_runs(answer.particles))
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.tabs)
        row.addWidget(heads, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(bodies, 1)
        delegate_focus(
            self, self.comparison.run_button, self.comparison.list, self.particles.view, self.tree.run_button
        )

    @property
    def work(self) -> tuple[StrategyPage, ...]:
        """Return the pages with work of their own."""
        return self.comparison, self.tree


def _table(name: str, title: str) -> QTableWidget:
    table = QTableWidget(0, 0)
    table.setObjectName(name)
    table.setAccessibleName(title)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    return table


def _alignment(column: int) -> Qt.AlignmentFlag:
    """Return the alignment of a column: all but the first have numbers."""
    return (Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter


def _set_columns(table: QTableWidget, *columns: tuple[str, str]) -> None:
    """Give a table its columns: the title and the tool tip of each, which may be empty."""
    table.setColumnCount(len(columns))
    for number, (title, tip) in enumerate(columns):
        header = QTableWidgetItem(title)
        header.setTextAlignment(_alignment(number))
        header.setToolTip(plain_text(tip) if tip else "")
        table.setHorizontalHeaderItem(number, header)


def _cells(one: StrategyFigures) -> tuple[str, ...]:
    title = DECODERS[one.name].title
    if one.why_not:
        return (title, *("–" for _ in _COLUMNS[1:]))
    return (
        title,
        "–" if one.kl is None else f"{one.kl:.3f}",
        "–" if one.tv is None else f"{one.tv:.3f}",
        percent(one.p_grammar) if one.p_grammar is not None else "–",
        ui_text("strategies.accepted", accepted=one.accepted, tries=one.tries),
        f"{one.calls:,}",
        duration(one.seconds),
    )


def _tip(one: StrategyFigures, column: str) -> str:
    if column == "strategy":
        return DECODERS[one.name].description
    if column in ("kl", "tv") and one.tv is not None:
        return ui_text("strategies.distance.strategy" if one.is_of_strategy else "strategies.distance.texts")
    return ui_text(f"strategies.column_tip.{column}")
