"""The cost of each strategy: one generation with each, from the same prompt, with the same sampler and seed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QProgressBar,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.panes.forced.page_headings import empty_background, page_layout, summary_label
from app.theme.buttons import tool_button
from app.theme.labels import plain_text
from app.widgets.token_paint import tabular
from app.workers.requests.forced import StrategiesAnswer, StrategyRow
from engine.decoding.forced.strategies import STRATEGIES
from engine.vocabulary.visible import visible

_COLUMNS = (
    "strategy",
    "tokens",
    "calls",
    "saved",
    "replaced",
    "model_seconds",
    "seconds",
    "time_saved",
    "output",
)
_TEXT = len(_COLUMNS) - 1


class StrategiesPage(QWidget):
    """Shows the measurements.

    Signals:
        wanted(): measure.
        cancelled(): stop, and keep what was measured.
    """

    wanted = Signal()
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_measuring = False
        self._refusal = ""
        self._rows: tuple[StrategyRow, ...] = ()
        self.summary = summary_label(ui_text("forced.strategies.empty"))
        self.measure = tool_button(
            ui_text("forced.strategies.measure.label"),
            ui_text("forced.strategies.measure.tip"),
            role="outlined",
            clicked=self._on_clicked,
        )
        self.bar = QProgressBar(textVisible=False, maximum=len(STRATEGIES))
        self.bar.setFixedHeight(6)
        self.bar.setAccessibleName(ui_text("forced.strategies.progress"))
        self.table = QTableWidget(0, len(_COLUMNS))
        self._empty_background = empty_background()
        for column, name in enumerate(_COLUMNS):
            item = QTableWidgetItem(ui_text(f"forced.strategies.column.{name}"))
            item.setToolTip(plain_text(ui_text(f"forced.strategies.tip.{name}")))
            item.setTextAlignment(_alignment(column))
            self.table.setHorizontalHeaderItem(column, item)
        self._build()
        self._refresh()

    def show_answer(self, answer: StrategiesAnswer) -> None:
        """Show the measurements so far."""
        self._rows = answer.rows
        self._is_measuring = len(answer.rows) < answer.total and not answer.why_not
        self.bar.setMaximum(answer.total)
        self._fill()
        self._refresh(answer.why_not)

    def begin(self) -> None:
        """Show that the measurement has started, before its first result."""
        self._is_measuring, self._rows = True, ()
        self._fill()
        self._refresh()

    def stop(self, why: str) -> None:
        """Report why no more results will come."""
        if self._is_measuring:
            self._is_measuring = False
            self._refresh(why)

    def forget(self) -> None:
        """Clear the page: the measurements belong to another model or grammar."""
        if self._rows and not self._is_measuring:
            self._rows = ()
            self._fill()
            self._refresh()

    def set_refusal(self, why: str) -> None:
        """Set why nothing can be generated; empty if it can."""
        self._refusal = why
        self._refresh()

    def _on_clicked(self) -> None:
        if self._is_measuring:
            self.cancelled.emit()
        else:
            self.wanted.emit()

    def _refresh(self, why: str = "") -> None:
        again = ui_text("forced.strategies.measure.again" if self._rows else "forced.strategies.measure.label")
        self.measure.setText(ui_text("common.button.cancel") if self._is_measuring else again)
        self.measure.setEnabled(self._is_measuring or not self._refusal)
        self.measure.setToolTip(plain_text(self._refusal or ui_text("forced.strategies.measure.tip")))
        self.bar.setVisible(self._is_measuring)
        self.bar.setValue(len(self._rows))
        self.table.setVisible(bool(self._rows))
        self._empty_background.setVisible(not self._rows)
        if why:
            self.summary.setText(why)
        elif self._is_measuring:
            self.summary.setText(ui_text("forced.strategies.running"))
        else:
            self.summary.setText(_summary(self._rows) if self._rows else ui_text("forced.strategies.empty"))

    def _fill(self) -> None:
        self.table.setRowCount(len(self._rows))
        for index, row in enumerate(self._rows):
            for column, text in enumerate(_texts(row, self._rows[0])):
                item = QTableWidgetItem(text)
                item.setTextAlignment(_alignment(column))
                item.setFont(theme.mono_font() if column == _TEXT else tabular(theme.ui_font()))
                item.setToolTip(plain_text(row.text if column == _TEXT else STRATEGIES[row.strategy].description))
                self.table.setItem(index, column, item)

    def _build(self) -> None:
        table = self.table
        table.setAccessibleName(ui_text("forced.strategies.name"))
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(25)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_TEXT, QHeaderView.ResizeMode.Stretch)
        layout = page_layout(self, self.summary, self.measure)
        layout.addWidget(self.bar)
        layout.addWidget(table, 1)
        layout.addWidget(self._empty_background, 1)


def _texts(row: StrategyRow, none: StrategyRow) -> tuple[str, ...]:
    saved = none.calls - row.calls
    faster = f"{1 - row.seconds / none.seconds:.0%}" if none.seconds > 0 else "–"
    return (
        STRATEGIES[row.strategy].title,
        f"{row.tokens:,}",
        f"{row.calls:,}",
        "–" if row is none else f"{saved:,}",
        f"{row.taken_back:,}",
        f"{row.model_seconds:.2f}",
        f"{row.seconds:.2f}",
        "–" if row is none else faster.replace("-", "\N{MINUS SIGN}"),
        visible(row.text.encode()),
    )


def _summary(rows: tuple[StrategyRow, ...]) -> str:
    none = rows[0]
    best = min(rows, key=lambda row: row.calls)
    if best.calls >= none.calls:
        return ui_text("forced.strategies.nothing_saved")
    return ui_text(
        "forced.strategies.saved",
        strategy=STRATEGIES[best.strategy].title,
        calls=best.calls,
        all_calls=none.calls,
        seconds=best.seconds,
        all_seconds=none.seconds,
    )


def _alignment(column: int) -> Qt.AlignmentFlag:
    is_text = column in (0, _TEXT)
    return (Qt.AlignmentFlag.AlignLeft if is_text else Qt.AlignmentFlag.AlignRight) | Qt.AlignmentFlag.AlignVCenter
