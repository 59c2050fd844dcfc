"""The table of forced runs: the run at the current position, by bytes, and by tokens."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from app import theme
from app.models.rows import Index, RowsModel
from app.panes.forced.wording import begins
from app.theme.plain_text import plain_text
from app.workers.forced_messages import ForcedAnswer
from engine.vocabulary.visible import visible

TEXT, WHERE, WAYS, OWN = range(4)
_TITLES = ("Forced text", "From → to", "Spellings", "The tokenizer writes")
_TIPS = (
    "What must come, byte by byte; the last rows are of states at which one token alone may come",
    "The states between which it stands; “here” is where the output stands",
    "How many ways the vocabulary has to spell it",
    "Its tokens as the tokenizer itself would write it",
)
_BLANK = "\N{MIDDLE DOT}"


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
    rows = [ForcedRow(visible(here), "here", "", "", None, here)] if here else []
    if answer is not None:
        rows += [
            ForcedRow(
                visible(run.data),
                f"{run.state} → {run.target}",
                f"{run.count:,}",
                f" {_BLANK} ".join(run.own),
                run.before,
                run.data,
            )
            for run in answer.runs
        ]
        rows += [
            ForcedRow(f" {_BLANK} ".join(run.tokens), f"{run.state}, one token", "1", "", b"", None)
            for run in answer.token_runs
        ]
    return tuple(rows)


class RunsModel(RowsModel):
    """The rows of the table."""

    titles = _TITLES
    tips = _TIPS
    numbers = frozenset((WAYS,))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the texts."""
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return (row.text, row.where, row.ways, row.own)[column]
            case Qt.ItemDataRole.FontRole if column in (TEXT, OWN):
                return theme.mono_font()
            case Qt.ItemDataRole.ForegroundRole if row.data is None or column == WHERE:
                return theme.colour(theme.Role.MUTED)
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.alignment(column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_text(_tip(row))
        return None


class RunsTable(QTableView):
    """The table.

    Signals:
        chosen(ForcedRow): the user selected a run.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = RunsModel(self)
        self.setModel(self.rows)
        self.setAccessibleName("Forced runs")
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
        self.setColumnWidth(WHERE, metrics.horizontalAdvance("000, one token") + 2 * theme.SPACE_M)
        self.setColumnWidth(WAYS, metrics.horizontalAdvance("Spellings") + 2 * theme.SPACE_M)


def _tip(row: ForcedRow) -> str:
    if row.data is None:
        return "At each of these states one token alone may come"
    if row.before is None:
        return f"{row.text}\nmust come where the output stands"
    front = f" behind {begins(row.before, 60)}" if row.before else " at the beginning"
    return f"{row.text}\nmust come{front}"
