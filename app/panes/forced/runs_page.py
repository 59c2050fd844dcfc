"""Forced runs beside the spellings of the selected one."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.display_text import count
from app.panes.forced.runs import ForcedRow, RunsTable, rows_of
from app.panes.forced.spellings import SpellingsTable
from app.panes.forced.wording import part_of
from app.theme.buttons import tool_button
from app.theme.labels import Label
from app.theme.plain_text import plain_text
from app.widgets.elided_label import ElidedLabel
from app.workers.forced_messages import ForcedAnswer, SpellingsAnswer

_WAITING = "The forced runs are being looked for…"
_NONE = "Nothing is forced: at every place the grammar leaves a choice, or the text may end."
_CHOOSE = "Select a run to hold its spellings against each other on the model: what each makes likelier to come next."
_LISTED, _MORE, _MOST_LISTED = 16, 4, 1_024  # each takes several calls of the model
_LEAST_LEFT, _LEAST_RIGHT = 300, 380


class RunsPage(QWidget):
    """The page of forced runs.

    Signals:
        compare_wanted(before, part, most): compare up to `most` spellings of a part of a run; `before` is the text
        before the run, None at the current position of the session.
        cancelled(): cancel the running comparison.

    Attributes:
        table: the runs.
        part: the part of the run whose spellings are compared.
        spellings: the spellings.
    """

    compare_wanted = Signal(object, str, int)
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: ForcedAnswer | None = None
        self._here = b""
        self._row: ForcedRow | None = None
        self._is_comparing = False
        self._most = _LISTED
        self._refusal = ""
        self.table = RunsTable()
        self.summary = _line()
        self.empty = _empty(_WAITING)
        self.part = QLineEdit()
        self.part.setAccessibleName("Part of the run that is spelled in several ways")
        self.part.setToolTip("The part of the run that is spelled in several ways; empty for all of it")
        self.part.setFont(theme.mono_font())
        self.part.setFixedWidth(150)
        self.compare = tool_button("Compare", "Ask the model behind each spelling", role="outlined")
        self.more = tool_button("More", "List more spellings", role="outlined")
        self.told = _line()
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(4)
        self.bar.setAccessibleName("The spellings are being compared")
        self.spellings = SpellingsTable()
        self.choose = _empty(_CHOOSE)
        self._left, self._right = QStackedWidget(), QStackedWidget()
        self._build()
        self.table.chosen.connect(self._on_chosen)
        self.compare.clicked.connect(self._on_compare)
        self.more.clicked.connect(self._list_more)
        self.part.returnPressed.connect(self._compare_anew)
        theme.themes.changed.connect(self._apply_theme)
        self._refresh()

    def _apply_theme(self) -> None:
        self.part.setFont(theme.mono_font())

    def show_forced(self, answer: ForcedAnswer) -> None:
        """Show the runs of a grammar."""
        self._answer = answer
        self._refresh()

    def show_here(self, data: bytes) -> None:
        """Show the forced run at the current position."""
        if data != self._here:
            self._here = data
            if self._row is not None and self._row.before is None:
                self._choose(None)
            self._refresh()

    def show_spellings(self, answer: SpellingsAnswer) -> None:
        """Show a comparison, if it still matches what is selected."""
        request = answer.request.before, answer.request.part, answer.request.most
        if self._row is None or request != (self._row.before, self.part.text(), self._most):
            return
        self._is_comparing = False
        self.spellings.show_answer(None if answer.why_not else answer)
        self._show_summary(answer)

    def stop(self, why: str) -> None:
        """Report why no comparison will come."""
        if self._is_comparing:
            self._is_comparing = False
            self.told.set_text(f"{why}.")
            self._enable()

    def forget(self) -> None:
        """Clear the page: what it shows belongs to another grammar or vocabulary."""
        self._answer, self._here = None, b""
        self._choose(None)
        self._refresh()

    def forget_spellings(self) -> None:
        """Clear the comparison: it belongs to another prompt."""
        self._choose(None)

    def set_refusal(self, why: str) -> None:
        """Set why the model cannot be queried; empty if it can."""
        self._refusal = why
        self._enable()

    def _on_chosen(self, row: ForcedRow) -> None:
        if row.data is None:
            self._choose(None)
            self.choose.setText("At these states one token alone may come, so there is but one spelling.")
            return
        if self._row is None or (row.before, row.data) != (self._row.before, self._row.data):
            self.part.setText(part_of(row.data))
        self._choose(row)
        self._compare_anew()

    def _choose(self, row: ForcedRow | None) -> None:
        self._row = row
        self._is_comparing = False
        if row is None:
            self.spellings.show_answer(None)
            self.choose.setText(_CHOOSE)
        self._right.setCurrentIndex(int(row is not None))
        self._enable()

    def _on_compare(self) -> None:
        if self._is_comparing:
            self.cancelled.emit()
        else:
            self._compare_anew()

    def _compare_anew(self) -> None:
        self._most = _LISTED
        self._compare()

    def _list_more(self) -> None:
        self._most = min(self._most * _MORE, _MOST_LISTED)
        self._compare()

    def _compare(self) -> None:
        if self._row is None or self._refusal:
            self.told.set_text(f"{self._refusal}." if self._row is not None else "")
            return
        self._is_comparing = True
        self.told.set_text("The model is asked behind each spelling…")
        self._enable()
        self.compare_wanted.emit(self._row.before, self.part.text(), self._most)

    def _enable(self) -> None:
        self.bar.setVisible(self._is_comparing)
        self.compare.setText("Cancel" if self._is_comparing else "Compare")
        self.compare.setEnabled(self._is_comparing or not self._refusal)
        self.compare.setToolTip(plain_text(self._refusal or "Ask the model behind each spelling"))
        answer = self.spellings.spellings.answer
        has_more = answer is not None and len(answer.rows) < answer.count and self._most < _MOST_LISTED
        self.more.setVisible(has_more and not self._is_comparing)

    def _show_summary(self, answer: SpellingsAnswer) -> None:
        if answer.why_not:
            self.told.set_text(f"{answer.why_not[:1].upper()}{answer.why_not[1:]}.")
        else:
            listed = len(answer.rows)
            spelling_count = count(answer.count, "spelling")
            some = "" if listed >= answer.count else f", {listed} listed"
            sure = "" if answer.is_exact else "; there may be a likelier one"
            self.told.set_text(f"{spelling_count} of it{some}, the likeliest first{sure}", f"{spelling_count}{some}")
        self._enable()

    def _refresh(self) -> None:
        answer, rows = self._answer, rows_of(self._answer, self._here)
        self.table.show_rows(rows)
        self._left.setCurrentIndex(int(bool(rows)))
        if self._row is None:
            self.choose.setText(_CHOOSE if rows else "")
        if answer is None:
            self.empty.setText(_WAITING)
            self.summary.set_text("")
            return
        if answer.why_not:
            self.empty.setText(f"There is no list of forced runs: {answer.why_not}.")
            self.summary.set_text(f"Only what is forced here: {answer.why_not}." if rows else "")
            return
        self.empty.setText(" ".join(part for part in (_NONE, answer.form) if part))
        states = f"{count(answer.states[0], 'state')} and {count(answer.edges[0], 'edge')}"
        merged = f"{states}; with forced runs merged {answer.states[1]:,} and {answer.edges[1]:,}."
        short = f"{answer.states[0]:,} → {answer.states[1]:,} states, {answer.edges[0]:,} → {answer.edges[1]:,} edges"
        of = re.split("[:,]", answer.form)[0]
        self.summary.set_text(f"{merged} {answer.form}".strip(), f"{of}: {short}" if of else merged, short)

    def _build(self) -> None:
        runs = QWidget()
        left = QVBoxLayout(runs)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(0)
        left.addWidget(self.table, 1)
        left.addWidget(self.summary)
        self._left.addWidget(self.empty)
        self._left.addWidget(runs)
        head = QHBoxLayout()
        head.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        head.setSpacing(theme.SPACE_S)
        of = Label("Spellings of")
        of.setBuddy(self.part)
        compared = QWidget()
        right = QVBoxLayout(compared)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addLayout(head)
        head.addWidget(of)
        head.addWidget(self.part)
        head.addWidget(self.compare)
        head.addWidget(self.told, 1)
        head.addWidget(self.more)
        right.addWidget(self.bar)
        right.addWidget(self.spellings, 1)
        self._right.addWidget(self.choose)
        self._right.addWidget(compared)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        self._left.setMinimumWidth(_LEAST_LEFT)
        self._right.setMinimumWidth(_LEAST_RIGHT)
        splitter.addWidget(self._left)
        splitter.addWidget(self._right)
        splitter.setSizes([460, 700])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(splitter)


def _empty(text: str) -> QLabel:
    label = Label(text, wraps=True)
    label.setProperty("role", "empty")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setMargin(theme.SPACE_M)
    return label


def _line() -> ElidedLabel:
    label = ElidedLabel(fills=True)
    label.setContentsMargins(theme.SPACE_S, 3, theme.SPACE_S, 3)
    return label
