"""The comparison of strategies: which were picked, their numbers, and the share of each text in each of them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QSpinBox,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.theme.buttons import push_button
from app.theme.labels import plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.keyboard import delegate_focus
from app.widgets.token_paint import tabular
from app.workers.protocol import Progress
from app.workers.requests.strategies import StrategiesComparison, StrategyFigures
from engine.decoding.strategies.decoders import DECODERS
from engine.source.number_format import duration, percent
from engine.vocabulary.visible import visible

_PICKED: Final = ("local", "cars", "smc")
_COLUMNS: Final = ("strategy", "kl", "tv", "p_grammar", "accepted", "calls", "time")
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


class StrategiesPane(QFrame):
    """Picks strategies, and shows what they draw.

    Signals:
        wanted(names, samples, most_calls): draw with these.
        cancelled(): stop, and keep what was drawn.
        opened(ids): open a text as a trace, by its tokens.
    """

    wanted = Signal(tuple, int, object)
    cancelled = Signal()
    opened = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAccessibleName(ui_text("strategies.pane.name"))
        self._is_busy = False
        self._refusal = ""
        self._answer = StrategiesComparison(())
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
        self.run_button = push_button(ui_text("strategies.pane.compare"), clicked=self._on_run)
        self.run_button.setObjectName("strategies-compare")
        self.summary = ElidedLabel(fills=True)
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(_BAR)
        self.bar.setAccessibleName(ui_text("strategies.pane.progress"))
        self.figures = _table("strategies-figures", ui_text("strategies.pane.figures"))
        self.texts = _table("strategies-texts", ui_text("strategies.pane.texts"))
        self.texts.setItemDelegate(ShareDelegate(self.texts))
        self._build()
        self.list.itemChanged.connect(lambda _item: self._refresh())
        self.texts.cellActivated.connect(lambda row, _column: self._open(row))
        delegate_focus(self, self.run_button, self.list)
        self._fill()
        self._refresh()

    @property
    def picked(self) -> tuple[str, ...]:
        """Return the names of the strategies that are picked."""
        items = [self.list.item(row) for row in range(self.list.count())]
        return tuple(
            item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is Qt.CheckState.Checked
        )

    def begin(self) -> None:
        """Show that the work has started."""
        self._is_busy, self._answer = True, StrategiesComparison(())
        self.bar.setRange(0, 0)
        self._fill()
        self._refresh()

    def show_answer(self, answer: StrategiesComparison | Progress) -> None:
        """Show what was drawn so far, or the progress."""
        if isinstance(answer, Progress):
            self.bar.setRange(0, answer.total or 0)
            self.bar.setValue(answer.done)
            self.summary.setText(ui_text("strategies.pane.running", name=answer.what))
            return
        self._answer, self._is_busy = answer, not answer.done
        self._fill()
        self._refresh()

    def stop(self, why: str) -> None:
        """Report why nothing more will come."""
        self._is_busy = False
        self._refresh(why)

    def forget(self) -> None:
        """Clear the pane: what it shows belongs to another grammar, model or prompt."""
        self._is_busy, self._answer = False, StrategiesComparison(())
        self._fill()
        self._refresh()

    def set_refusal(self, why: str) -> None:
        """Set why nothing can be drawn; empty if it can."""
        self._refusal = why
        self._refresh()

    def _on_run(self) -> None:
        if self._is_busy:
            self.cancelled.emit()
        else:
            count = self.count.value()
            self.wanted.emit(self.picked, count, count if self.limit.currentData() == "calls" else None)

    def _open(self, row: int) -> None:
        self.opened.emit(self._answer.texts[row].ids)

    def _refresh(self, why: str = "") -> None:
        refusal = self._refusal or ("" if self.picked else ui_text("strategies.pane.none_picked"))
        self.run_button.setText(ui_text("common.button.cancel" if self._is_busy else "strategies.pane.compare"))
        self.run_button.setEnabled(self._is_busy or not refusal)
        self.run_button.setToolTip(plain_text(refusal or ui_text("strategies.pane.compare_tip")))
        self.bar.setVisible(self._is_busy)
        if not self._is_busy:
            self.summary.setText(why or self._summary())

    def _summary(self) -> str:
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
        titles = [ui_text("strategies.column.exact"), *(DECODERS[one.name].title for one in answer.figures)]
        self.texts.setColumnCount(1 + len(titles))
        for column, title in enumerate((ui_text("strategies.column.text"), *titles)):
            self.texts.setHorizontalHeaderItem(column, _header(title, column))
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

    def _build(self) -> None:
        head = QFrame()
        head.setProperty("role", "bar")
        row = QHBoxLayout(head)
        row.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_S)
        for widget in (self.count, self.limit, self.run_button):
            row.addWidget(widget)
        row.addWidget(self.summary, 1)
        self.figures.setColumnCount(len(_COLUMNS))
        for column, name in enumerate(_COLUMNS):
            item = _header(ui_text(f"strategies.column.{name}"), column)
            item.setToolTip(plain_text(ui_text(f"strategies.column_tip.{name}")))
            self.figures.setHorizontalHeaderItem(column, item)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        for part, share in ((self.list, 2), (self.figures, 5), (self.texts, 6)):
            splitter.addWidget(part)
            splitter.setStretchFactor(splitter.count() - 1, share)
        splitter.setSizes([160, 610, 510])
        splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(head)
        layout.addWidget(self.bar)
        layout.addWidget(splitter, 1)


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


def _header(title: str, column: int) -> QTableWidgetItem:
    item = QTableWidgetItem(title)
    item.setTextAlignment(_alignment(column))
    return item


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
