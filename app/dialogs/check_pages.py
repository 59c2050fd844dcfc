"""The pages of the output check that are computed on request: the probabilities of the output, and other engines."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QLineEdit,
)

from app import theme
from app.catalogue import capitalised, ui_text
from app.dialogs.work_page import WorkPage
from app.display_text import percent, unmarked
from app.models.rows import RowsModel
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.widgets.rich_text import bullets
from app.workers.requests.engines import EngineRow, EnginesAnswer
from app.workers.requests.scoring import ScoreAnswer, ScoreRow

_UNLIKELY = 0.01  # a probability below this is marked
_MOST_NOTES = 2  # the tool tip has all


class ScoresModel(RowsModel):
    """One row for each token."""

    names = ("place", "token", "p", "mass", "rank", "wanted")
    titles = tuple(ui_text(f"dialogs.check.scores.column.{name}") for name in names)
    tips = tuple(ui_text(f"dialogs.check.scores.tip.{name}") for name in names)
    numbers: frozenset[int] = frozenset((2, 3, 4))

    def text(self, row: ScoreRow, column: int) -> str:
        """Return the text of a cell; unknown numbers are empty."""
        name = self.names[column]
        match name:
            case "p":
                return "" if row.p is None else percent(row.p)
            case "rank":
                return "" if row.rank is None else f"{row.rank:,}"
        return str(getattr(row, name))

    def look(self, row: ScoreRow, column: int, role: int) -> object:
        """Return the font of tokens, and the colours of unlikely and illegal ones."""
        name = self.names[column]
        match role:
            case Qt.ItemDataRole.FontRole if name in ("token", "wanted"):
                return theme.mono_font()
            case Qt.ItemDataRole.ForegroundRole:
                return self._colour(row, name)
        return None

    @staticmethod
    def _colour(row: ScoreRow, name: str) -> QColor | None:
        if name == "mass" and row.is_allowed is False:
            return theme.colour(theme.Role.ERROR)
        if name == "p" and row.p is not None and row.p < _UNLIKELY:
            return theme.colour(theme.Role.WARNING)
        return theme.colour(theme.Role.MUTED) if name in ("place", "wanted") else None


class EnginesModel(RowsModel):
    """One row for each engine."""

    names = ("engine", "version", "answer")
    titles = tuple(ui_text(f"dialogs.check.engines.column.{name}") for name in names)
    tips = titles
    numbers: frozenset[int] = frozenset()

    def text(self, row: EngineRow, column: int) -> str:
        """Return the text of a cell."""
        text = str(getattr(row, self.names[column]))
        return capitalised(text) if self.names[column] == "answer" else text

    def look(self, row: EngineRow, _column: int, role: int) -> object:
        """Return the colour of an engine without an answer."""
        is_muted = role == Qt.ItemDataRole.ForegroundRole and row.accepted is None
        return theme.colour(theme.Role.MUTED) if is_muted else None


class ScoresPage(WorkPage):
    """The probabilities of the tokens of an output.

    Signals:
        wanted(prompt, by_response): score the output.
        token_chosen(ScoreRow): show this token in the output.
    """

    wanted = Signal(str, bool)
    token_chosen = Signal(ScoreRow)

    def __init__(self) -> None:
        super().__init__("check.scores", ScoresModel())
        self.source = QComboBox()
        self.source.setToolTip(ui_text("dialogs.check.scores.source_tip"))
        self.source.setAccessibleName(self._text("source"))
        for key in ("by_model", "by_response"):
            self.source.addItem(self._text(key))
        self.prompt = QLineEdit()
        self.prompt.setPlaceholderText(self._text("prompt_hint"))
        self.prompt.setToolTip(ui_text("dialogs.check.scores.prompt_tip"))
        self.prompt.setAccessibleName(self._text("prompt"))
        self.prompt.setMinimumWidth(240)
        self._prompt_label = Label(self._text("prompt"))
        for at, widget in enumerate((self.source, self._prompt_label, self.prompt)):
            self.controls.insertWidget(at, widget)
        self.notes = Label(wraps=True, is_html=True)
        self.notes.setProperty("role", "muted")
        self.notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.notes.hide()
        self.column.addWidget(self.notes)
        self.source.currentIndexChanged.connect(self._on_source)
        self.prompt.returnPressed.connect(self.start)
        self.table.selectionModel().selectionChanged.connect(self._on_selected)
        self.offer_response(is_known=False)

    def offer_response(self, *, is_known: bool) -> None:
        """Offer the log-probabilities of the response, and choose them, if there are any."""
        self.source.setVisible(is_known)
        self.source.setCurrentIndex(int(is_known))
        self._on_source(int(is_known))

    def start(self) -> None:
        """Request the probabilities."""
        if not self._is_running:
            self._set_running(is_running=True)
            self.wanted.emit(self.prompt.text(), bool(self.source.currentIndex()))

    def clear(self, hint: str = "") -> None:
        """Drop the probabilities."""
        super().clear(hint)
        self.notes.hide()

    def show_answer(self, answer: ScoreAnswer) -> None:
        """Show the probabilities, with the least probable token selected; or why there are none."""
        if not self._is_running:
            return
        self._set_running(is_running=False)
        if answer.error:
            self._show_hint(answer.error)
            self.notes.hide()
            return
        self.model.show_rows(answer.rows)
        self.table.resizeColumnsToContents()
        self._show_table()
        parts = [self._count(answer)]
        if answer.worst is not None:
            row = answer.rows[answer.worst]
            p = percent(row.p or 0.0)
            parts.append(ui_text("dialogs.check.scores.fragment.worst", where=row.place, token=row.token, p=p))
            self.table.selectRow(answer.worst)
            self.table.scrollTo(self.model.index(answer.worst, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
        if answer.left_out:
            parts.append(ui_text("dialogs.check.scores.left_out", count=answer.left_out))
        self.summary.set_text("; ".join(parts))
        self.notes.setText(bullets(answer.notes[:_MOST_NOTES], theme.Role.MUTED))
        self.notes.setAccessibleName("\n".join(map(unmarked, answer.notes)))
        self.notes.setToolTip(plain_text("\n".join(map(unmarked, answer.notes))))
        self.notes.setVisible(bool(answer.notes))

    @staticmethod
    def _count(answer: ScoreAnswer) -> str:
        count = len(answer.rows)
        if answer.model:
            return ui_text("dialogs.check.scores.model", count=count, model=answer.model)
        return ui_text("dialogs.check.scores.response", count=count)

    def _on_source(self, index: int) -> None:
        for widget in (self._prompt_label, self.prompt):
            widget.setVisible(not index)

    def _on_selected(self, selected: QItemSelection) -> None:
        rows = selected.indexes()
        if rows:
            self.token_chosen.emit(self.model.rows[rows[0].row()])


class EnginesPage(WorkPage):
    """A page that shows how much of an output each engine accepts.

    Signals:
        wanted(): compare the engines.
        smallest_wanted(): find the part of the grammar on which an engine fails.
    """

    wanted = Signal()
    smallest_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("check.engines", EnginesModel())
        title, tip = (ui_text(f"commands.tests.reduce.{name}") for name in ("title", "tip"))
        self.smallest_button = push_button(title, tip, role="link")
        self.smallest_button.clicked.connect(self.smallest_wanted)
        self.controls.addWidget(self.smallest_button)

    def start(self) -> None:
        """Request the comparison."""
        if not self._is_running:
            self._set_running(is_running=True)
            self.wanted.emit()

    def show_answer(self, answer: EnginesAnswer) -> None:
        """Show what the engines accept, or why none was asked."""
        if not self._is_running:
            return
        self._set_running(is_running=False)
        if answer.error:
            self._show_hint(answer.error)
            return
        self.model.show_rows(answer.rows)
        self.table.resizeColumnsToContents()
        self._show_table()
        accepted = [row.accepted for row in answer.rows if row.accepted is not None]
        if answer.diagnosis is not None:
            self.summary.set_text(self._text("differ"))
        elif len(accepted) > 1:
            self.summary.set_text(ui_text("dialogs.check.engines.agree", count=accepted[0]))
