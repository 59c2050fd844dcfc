"""Forced runs beside the spellings of the selected one."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QSplitter,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.models.rows import RowsModel
from app.panes.forced.spellings import SpellingsTable
from app.panes.forced.wording import begins, form_note, part_of, sentences
from app.theme.buttons import tool_button
from app.theme.labels import Label, plain_text
from app.widgets.elided_label import ElidedLabel
from app.workers.requests.forced import ForcedAnswer, ListedForm, SpellingsAnswer
from engine.vocabulary.visible import visible

TEXT, WHERE, WAYS, OWN = range(4)
_COLUMNS = ("text", "where", "ways", "own")
_DOT = "\N{MIDDLE DOT}"
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

    compare_wanted = Signal(bytes, str, int)
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
        self.empty = _empty(ui_text("forced.runs.waiting"))
        self.part = QLineEdit()
        self.part.setAccessibleName(ui_text("forced.tokenizations.part.name"))
        self.part.setToolTip(ui_text("forced.tokenizations.part.tip"))
        self.part.setFont(theme.mono_font())
        self.part.setFixedWidth(150)
        self.compare = tool_button(
            ui_text("forced.tokenizations.compare.label"),
            ui_text("forced.tokenizations.compare.tip"),
            role="outlined",
            clicked=self._on_compare,
        )
        self.more = tool_button(
            ui_text("common.button.more"),
            ui_text("forced.tokenizations.more"),
            role="outlined",
            clicked=self._list_more,
        )
        self.status = _line()
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(4)
        self.bar.setAccessibleName(ui_text("forced.tokenizations.progress"))
        self.spellings = SpellingsTable()
        self.choose = _empty(ui_text("forced.runs.select"))
        self._left, self._right = QStackedWidget(), QStackedWidget()
        self._build()
        self.table.chosen.connect(self._on_chosen)
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
            self.status.set_text(why)
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
            self.choose.setText(ui_text("forced.runs.single_token"))
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
            self.choose.setText(ui_text("forced.runs.select"))
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
            self.status.set_text(self._refusal if self._row is not None else "")
            return
        self._is_comparing = True
        self.status.set_text(ui_text("forced.tokenizations.running"))
        self._enable()
        self.compare_wanted.emit(self._row.before, self.part.text(), self._most)

    def _enable(self) -> None:
        self.bar.setVisible(self._is_comparing)
        self.compare.setText(
            ui_text("common.button.cancel" if self._is_comparing else "forced.tokenizations.compare.label")
        )
        self.compare.setEnabled(self._is_comparing or not self._refusal)
        self.compare.setToolTip(plain_text(self._refusal or ui_text("forced.tokenizations.compare.tip")))
        answer = self.spellings.spellings.answer
        has_more = answer is not None and len(answer.rows) < answer.count and self._most < _MOST_LISTED
        self.more.setVisible(has_more and not self._is_comparing)

    def _show_summary(self, answer: SpellingsAnswer) -> None:
        if answer.why_not:
            self.status.set_text(answer.why_not)
        else:
            listed, total = len(answer.rows), ui_text("forced.tokenizations.count", count=answer.count)
            if listed < answer.count:
                total = ui_text("forced.tokenizations.some", total=total, listed=listed)
            is_exact = answer.is_exact
            text = ui_text("forced.tokenizations.sorted" if is_exact else "forced.tokenizations.not_exact", total=total)
            self.status.set_text(text, total)
        self._enable()

    def _refresh(self) -> None:
        answer, rows = self._answer, rows_of(self._answer, self._here)
        self.table.show_rows(rows)
        self._left.setCurrentIndex(int(bool(rows)))
        if self._row is None:
            self.choose.setText(ui_text("forced.runs.select") if rows else "")
        if answer is None:
            self.empty.setText(ui_text("forced.runs.waiting"))
            self.summary.set_text("")
            return
        if answer.why_not:
            self.empty.setText(ui_text("forced.runs.failed", reason=answer.why_not))
            self.summary.set_text(ui_text("forced.runs.only_here", reason=answer.why_not) if rows else "")
            return
        note = form_note(answer.form)
        self.empty.setText(sentences(ui_text("forced.runs.empty"), note))
        (states, merged_states), (edges, merged_edges) = answer.states, answer.edges
        merged = ui_text(
            "forced.runs.merged",
            states=ui_text("common.count.states", count=states),
            edges=ui_text("common.count.edges", count=edges),
            merged_states=merged_states,
            merged_edges=merged_edges,
        )
        short = ui_text(
            "forced.runs.merged_short",
            states=states,
            edges=edges,
            merged_states=merged_states,
            merged_edges=merged_edges,
        )
        if answer.form is ListedForm.GRAMMAR:
            self.summary.set_text(merged, short)
        else:
            shorter = ui_text(f"forced.form.{answer.form}.short", text=short)
            self.summary.set_text(sentences(merged, note), shorter, short)

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
        of = Label(ui_text("forced.tokenizations.label"))
        of.setBuddy(self.part)
        compared = QWidget()
        right = QVBoxLayout(compared)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addLayout(head)
        head.addWidget(of)
        head.addWidget(self.part)
        head.addWidget(self.compare)
        head.addWidget(self.status, 1)
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


@dataclass(frozen=True, slots=True)
class ForcedRow:
    """One row of the table.

    Attributes:
        text, where, ways, own: the texts of its columns.
        before: the text before the run; None at the current position of the session.
        data: the run; None for one that is given by tokens, whose spellings cannot be compared.
    """

    text: str
    where: str
    ways: str
    own: str
    before: bytes | None
    data: bytes | None


def rows_of(answer: ForcedAnswer | None, here: bytes) -> tuple[ForcedRow, ...]:
    """Return the rows of an answer."""
    rows = [ForcedRow(visible(here), ui_text("common.fragment.here"), "", "", None, here)] if here else []
    if answer is not None:
        rows += [
            ForcedRow(
                visible(run.data),
                f"{run.state} → {run.target}",
                f"{run.count:,}",
                f" {_DOT} ".join(run.own),
                run.before,
                run.data,
            )
            for run in answer.runs
        ]
        rows += [
            ForcedRow(f" {_DOT} ".join(run.tokens), _one_token(run.state), "1", "", b"", None)
            for run in answer.token_runs
        ]
    return tuple(rows)


class RunsModel(RowsModel):
    """The rows of the table."""

    titles: tuple[str, ...] = tuple(ui_text(f"forced.runs.column.{name}") for name in _COLUMNS)
    tips: tuple[str, ...] = tuple(ui_text(f"forced.runs.tip.{name}") for name in _COLUMNS)
    numbers = frozenset((WAYS,))

    def text(self, row: ForcedRow, column: int) -> str:
        """Return the text of a cell."""
        return (row.text, row.where, row.ways, row.own)[column]

    def tip(self, row: ForcedRow, _column: int) -> str:
        """Return the tool tip of the row."""
        return _tip(row)

    def look(self, row: ForcedRow, column: int, role: int) -> object:
        """Return the font of texts and the colour of places."""
        match role:
            case Qt.ItemDataRole.FontRole if column in (TEXT, OWN):
                return theme.mono_font()
            case Qt.ItemDataRole.ForegroundRole if row.data is None or column == WHERE:
                return theme.colour(theme.Role.MUTED)
        return None


class RunsTable(QTableView):
    """The table.

    Signals:
        chosen(ForcedRow): the user selected a run.
    """

    chosen = Signal(ForcedRow)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = RunsModel(self)
        self.setModel(self.rows)
        self.setAccessibleName(ui_text("common.word.forced_runs"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(OWN, QHeaderView.ResizeMode.Stretch)
        self.clicked.connect(self._choose)
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_rows(self, rows: tuple[ForcedRow, ...]) -> None:
        """Replace the rows; keep the selected run selected if it is still there."""
        if rows == self.rows.rows:
            return
        selected = self.selected
        self.rows.show_rows(rows)
        if selected is not None:
            index = next(
                (i for i, row in enumerate(rows) if (row.before, row.data) == (selected.before, selected.data)), None
            )
            if index is not None:
                self.selectRow(index)

    @property
    def selected(self) -> ForcedRow | None:
        """Return the selected run."""
        index = self.currentIndex().row()
        return self.rows.rows[index] if 0 <= index < len(self.rows.rows) else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `chosen` when the arrow keys move the selection, or on Return."""
        before = self.currentIndex()
        super().keyPressEvent(event)
        if self.currentIndex() != before or event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.rows.rows[index.row()])

    def _apply_theme(self) -> None:
        metrics = QFontMetrics(theme.ui_font())
        self.verticalHeader().setDefaultSectionSize(QFontMetrics(theme.mono_font()).height() + 9)
        self.setColumnWidth(WHERE, metrics.horizontalAdvance(_one_token("000")) + 2 * theme.SPACE_M)
        self.setColumnWidth(WAYS, metrics.horizontalAdvance(RunsModel.titles[WAYS]) + 2 * theme.SPACE_M)


def _one_token(state: object) -> str:
    return ui_text("forced.runs.fragment.one_token", state=state)


def _tip(row: ForcedRow) -> str:
    if row.data is None:
        return ui_text("forced.runs.row_tip.tokens")
    if row.before is None:
        return ui_text("forced.runs.row_tip.here", text=row.text)
    if not row.before:
        return ui_text("forced.runs.row_tip.start", text=row.text)
    return ui_text("forced.runs.row_tip.after", text=row.text, before=begins(row.before, 60))
