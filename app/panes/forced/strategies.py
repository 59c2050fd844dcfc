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
from app.panes.forced.page_headings import empty_ground, headed, sentence
from app.panes.forced.wording import STRATEGY_NAMES, STRATEGY_TIPS
from app.theme.buttons import tool_button
from app.theme.labels import plain_text
from app.widgets.token_paint import tabular
from app.workers.forced_messages import StrategiesAnswer, StrategyRow
from engine.vocabulary.visible import visible

_TITLES = ("Strategy", "Tokens", "Model calls", "Saved", "Replaced", "Model s", "All s", "Time saved", "Output")
_TIPS = (
    "How forced runs are spelled",
    "How many tokens the output has",
    "How often the model was asked",
    "How many calls fewer there were than with none",
    "How many drawn tokens were replaced, for the tokenizer joins them with what is forced",
    "Time in the model, behind the prompt; it forgets its answers before each strategy",
    "Time in all",
    "How much less time it took than with none",
    "What was written: with other tokens in front, the model may choose another text",
)
_EMPTY = "Generate once with each strategy, from this prompt and seed, and see how many calls of the model each saves."
_MEASURES = "Generate once with each strategy"
_TEXT = len(_TITLES) - 1


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
        self.said = sentence(_EMPTY)
        self.measure = tool_button("Measure", _MEASURES, role="outlined")
        self.bar = QProgressBar(textVisible=False, maximum=4)
        self.bar.setFixedHeight(6)
        self.bar.setAccessibleName("How many strategies were measured")
        self.table = QTableWidget(0, len(_TITLES))
        self._empty_background = empty_ground()
        for column, (title, tip) in enumerate(zip(_TITLES, _TIPS, strict=True)):
            item = QTableWidgetItem(title)
            item.setToolTip(plain_text(tip))
            item.setTextAlignment(_alignment(column))
            self.table.setHorizontalHeaderItem(column, item)
        self._build()
        self.measure.clicked.connect(self._on_clicked)
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
        self.measure.setText("Cancel" if self._is_measuring else "Measure anew" if self._rows else "Measure")
        self.measure.setEnabled(self._is_measuring or not self._refusal)
        self.measure.setToolTip(plain_text(self._refusal or _MEASURES))
        self.bar.setVisible(self._is_measuring)
        self.bar.setValue(len(self._rows))
        self.table.setVisible(bool(self._rows))
        self._empty_background.setVisible(not self._rows)
        if why:
            self.said.setText(f"{why}.")
        elif self._is_measuring:
            self.said.setText("Generating once with each strategy…")
        else:
            self.said.setText(_sentence(self._rows) if self._rows else _EMPTY)

    def _fill(self) -> None:
        self.table.setRowCount(len(self._rows))
        for index, row in enumerate(self._rows):
            for column, text in enumerate(_texts(row, self._rows[0])):
                item = QTableWidgetItem(text)
                item.setTextAlignment(_alignment(column))
                item.setFont(theme.mono_font() if column == _TEXT else tabular(theme.ui_font()))
                item.setToolTip(plain_text(row.text if column == _TEXT else STRATEGY_TIPS[row.strategy]))
                self.table.setItem(index, column, item)

    def _build(self) -> None:
        table = self.table
        table.setAccessibleName("What each strategy costs")
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
        layout = headed(self, self.said, self.measure)
        layout.addWidget(self.bar)
        layout.addWidget(table, 1)
        layout.addWidget(self._empty_background, 1)


def _texts(row: StrategyRow, none: StrategyRow) -> tuple[str, ...]:
    saved = none.calls - row.calls
    faster = f"{1 - row.seconds / none.seconds:.0%}" if none.seconds > 0 else "–"
    return (
        STRATEGY_NAMES[row.strategy],
        f"{row.tokens:,}",
        f"{row.calls:,}",
        "–" if row is none else f"{saved:,}",
        f"{row.taken_back:,}",
        f"{row.model_seconds:.2f}",
        f"{row.seconds:.2f}",
        "–" if row is none else faster.replace("-", "\N{MINUS SIGN}"),
        visible(row.text.encode()),
    )


def _sentence(rows: tuple[StrategyRow, ...]) -> str:
    none = rows[0]
    best = min(rows, key=lambda row: row.calls)
    if best.calls >= none.calls:
        return "Nothing was saved: the grammar leaves a choice at every place of this output."
    return (
        f"{STRATEGY_NAMES[best.strategy]} asked the model {best.calls:,} times instead of {none.calls:,}, "
        f"and took {best.seconds:.2f} s instead of {none.seconds:.2f} s."
    )


def _alignment(column: int) -> Qt.AlignmentFlag:
    is_text = column in (0, _TEXT)
    return (Qt.AlignmentFlag.AlignLeft if is_text else Qt.AlignmentFlag.AlignRight) | Qt.AlignmentFlag.AlignVCenter
