"""The next step's candidates as a table.

Initially the table is sorted by weight: the larger of a token's probabilities before and after the mask. So the model's
top choices and the most likely allowed tokens are both at the top, however far apart they are in the model's own order,
which the rank column shows and can sort by.

Rejected: the model's order alone. If the grammar allows 12 tokens of 49,152, all of them may be out of sight. And the
allowed ones first: a newcomer never sees a struck-through token.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.catalogue import ui_text
from app.display_text import UNKNOWN, candidate_text, change_column, percent, percent_between, percent_column
from app.models.rows import rest_of_row
from app.theme.labels import plain_text
from app.workers.requests.engine_masks import EngineMask, MaskCell
from engine.decoding.strategies.given_values import GivenShare, GivenShares
from engine.decoding.values import Candidate

NOTHING = "–"
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class CandidateColumn(IntEnum):
    """The columns of the table."""

    RANK = 0
    TOKEN = 1
    ID = 2
    PROBABILITY = 3
    CHANGE = 4
    STATE = 5


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column: what its cells say, how it sorts, and how wide it is.

    Attributes:
        text: returns the text of a cell.
        key: returns the sort key; equal ones are in the order of the rank.
        sample: returns the widest text, or for a column that takes spare width the least one, given the size of the
            vocabulary.
        hidden_first: the columns with larger numbers are hidden first where the table is narrow; 0 for never.
    """

    text: Callable[[Candidate], str]
    key: Callable[[Candidate], tuple[float | str, ...]]
    sample: Callable[[int], str]
    hidden_first: int = 0


_LEFT = (CandidateColumn.TOKEN,)
_ANNOUNCED = (
    CandidateColumn.RANK,
    CandidateColumn.TOKEN,
)  # screen readers announce these columns with the rest of the row
_SMALLEST_SAMPLE = 100  # ids and ranks of small vocabularies have this width
FIGURES = ">99.99%"
"""The widest probability."""

COLUMNS: dict[CandidateColumn, ColumnSpec] = {
    CandidateColumn.RANK: ColumnSpec(
        text=lambda c: UNKNOWN if c.rank is None else f"{c.rank:,}",
        key=lambda c: (_rank(c),),
        sample=lambda size: f"{max(size, _SMALLEST_SAMPLE):,}",
    ),
    CandidateColumn.TOKEN: ColumnSpec(
        text=candidate_text,
        key=lambda c: (candidate_text(c).casefold(), _rank(c)),
        sample=lambda _size: "0" * 9,
    ),
    CandidateColumn.ID: ColumnSpec(
        text=lambda c: str(c.token_id),
        key=lambda c: (c.token_id,),
        sample=lambda size: str(max(size, _SMALLEST_SAMPLE)),
        hidden_first=2,
    ),
    CandidateColumn.PROBABILITY: ColumnSpec(
        text=lambda c: f"{percent_column(c.p)} → {masked_text(c)}",
        key=lambda c: (weight(c), -_rank(c)),
        sample=lambda _size: FIGURES * 2 + "0" * 10,
    ),
    CandidateColumn.CHANGE: ColumnSpec(
        text=lambda c: change_column(c.p, c.p_masked),
        key=lambda c: (-math.inf if c.p is None or c.p_masked is None else c.p_masked - c.p, -_rank(c)),
        sample=lambda _size: ui_text("models.candidates.column.change.label"),
        hidden_first=3,
    ),
    CandidateColumn.STATE: ColumnSpec(  # the model names and sorts the states, which depend on the drawing
        text=lambda c: NOTHING if not c.allowed else ui_text("models.candidates.fragment.end") if c.is_eos else "",
        key=lambda c: (_rank(c),),
        sample=lambda _size: "State",
        hidden_first=1,
    ),
}
"""The columns that every table has. A new one is a member of `CandidateColumn`, an entry here, and its title and tip in
`models.toml`. The columns of engines follow them: see `EngineColumn`."""


@dataclass(frozen=True, slots=True)
class EngineColumn:
    """The column of an engine that is compared with the session: what it does with each token.

    Attributes:
        title: its name.
        mask: its mask at the shown position; None while it is not known.
    """

    title: str
    mask: EngineMask | None = None

    @property
    def tip(self) -> str:
        """Return what the column shows."""
        if self.mask is None:
            return ui_text("models.candidates.engine.waiting_tip", name=self.title)
        named = {"name": " ".join(part for part in (self.mask.title, self.mask.version) if part)}
        if self.mask.reason:
            return ui_text("models.candidates.engine.reason_tip", **named, reason=self.mask.reason)
        gained, lost = len(self.mask.gained), len(self.mask.lost)
        return ui_text("models.candidates.engine.tip", **named, gained=gained, lost=lost)

    def differs(self, candidate: Candidate) -> bool:
        """Return whether the engine is known to do something else with a token than the grammar of the session."""
        return self.mask is not None and self.mask.differs(candidate.token_id)

    def allows(self, candidate: Candidate) -> bool:
        """Return whether the engine is known to allow a token."""
        return self.mask is not None and self.mask.cell(candidate.token_id) is MaskCell.ALLOWED

    def sign(self, candidate: Candidate) -> str:
        """Return the sign of a cell."""
        if self.mask is None:
            return "…"
        sign = _SIGNS[self.mask.cell(candidate.token_id)]
        return f"≠ {sign}" if self.differs(candidate) else sign

    def text(self, candidate: Candidate) -> str:
        """Return a cell in words."""
        state = "waiting" if self.mask is None else self.mask.cell(candidate.token_id).value
        text = ui_text(f"models.candidates.engine.fragment.{state}")
        return ui_text("models.candidates.engine.fragment.differs", text=text) if self.differs(candidate) else text

    def key(self, candidate: Candidate) -> tuple[float, ...]:
        """Return the sort key: what differs, then what the engine allows; equal ones keep their order."""
        cell = MaskCell.UNKNOWN if self.mask is None else self.mask.cell(candidate.token_id)
        return (self.differs(candidate), tuple(reversed(_SIGNS)).index(cell))


@dataclass(frozen=True, slots=True)
class GivenColumn:
    """The column of the probabilities given that the text will match.

    Attributes:
        found: what is known at the shown position; None while nothing is.
    """

    found: GivenShares | None = None

    @property
    def title(self) -> str:
        """Return the title."""
        return ui_text("models.candidates.given.label")

    @property
    def tip(self) -> str:
        """Return what the column shows, and how it is known."""
        tip = ui_text("models.candidates.given.tip")
        if self.found is None:
            return tip
        if self.found.why_not:
            return f"{tip}\n{ui_text('models.candidates.given.why_not', reason=self.found.why_not)}"
        kind = "exact" if self.found.is_exact else "done" if self.found.is_done else "drawing"
        fields = {} if self.found.is_exact else {"count": self.found.draws}
        return f"{tip}\n{ui_text(f'models.candidates.given.{kind}', **fields)}"

    def differs(self, _candidate: Candidate) -> bool:
        """Return whether a row is marked: none is."""
        return False

    def allows(self, candidate: Candidate) -> bool:
        """Return whether the number of a token is not pale."""
        return candidate.allowed

    def sign(self, candidate: Candidate) -> str:
        """Return a cell: the probability, its estimate, or its bounds."""
        share = self._share(candidate)
        if isinstance(share, str):
            return share
        if share.estimate is not None:
            return f"≈ {percent(share.estimate)}"
        return percent_between(share.low, share.high)

    def text(self, candidate: Candidate) -> str:
        """Return a cell in words, with what is proved and what is estimated."""
        share = self._share(candidate)
        if isinstance(share, str):
            return ui_text("common.fragment.masked") if not candidate.allowed else share
        bounds = percent_between(share.low, share.high)
        if share.low == share.high:
            return bounds
        if share.estimate is None:
            return ui_text("models.candidates.given.fragment.bounds", bounds=bounds)
        estimate, error = percent(share.estimate), f"{100 * share.error:.2g}"
        return ui_text("models.candidates.given.fragment.estimate", estimate=estimate, error=error, bounds=bounds)

    def key(self, candidate: Candidate) -> tuple[float, ...]:
        """Return the sort key: the estimate, or the middle of the bounds; unknown ones are last."""
        share = self._share(candidate)
        if isinstance(share, str):
            return (-1.0 if candidate.allowed else -2.0,)
        return ((share.low + share.high) / 2 if share.estimate is None else share.estimate,)

    def _share(self, candidate: Candidate) -> GivenShare | str:
        """Return the share of a token, or the sign of none."""
        if not candidate.allowed:
            return NOTHING
        if self.found is None:
            return "…"
        return self.found.shares.get(candidate.token_id, UNKNOWN)


ExtraColumn: TypeAlias = EngineColumn | GivenColumn
"""A column that follows those of every table."""

_SIGNS = {MaskCell.ALLOWED: "✓", MaskCell.MASKED: "✗", MaskCell.UNKNOWN: "?"}


class CandidateModel(QAbstractTableModel):
    """The candidates as rows, with sorting and filtering."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[Candidate, ...] = ()
        self._rows: list[Candidate] = []
        self._peak = 0.0
        self._allowed_only = False
        self._name_state: Callable[[Candidate], str | None] = _no_state
        self._states: dict[int, str] = {}  # target states that were computed for displayed rows, by token id
        self._engines: tuple[ExtraColumn, ...] = ()
        self._sorting: tuple[int, Qt.SortOrder] = (CandidateColumn.PROBABILITY, Qt.SortOrder.DescendingOrder)

    def show_candidates(self, candidates: Iterable[Candidate], peak: float | None = None) -> None:
        """Replace all rows.

        Args:
            candidates: the candidates to show.
            peak: the probability of a full bar; by default the largest one among `candidates`.
        """
        self.beginResetModel()
        self._states = {}
        self._all = tuple(candidates)
        self._peak = peak if peak is not None else peak_of(self._all)
        self._arrange()
        self.endResetModel()

    def set_allowed_only(self, allowed_only: bool) -> None:
        """Hide the masked tokens, or show them again."""
        if allowed_only == self._allowed_only:
            return
        self.beginResetModel()
        self._allowed_only = allowed_only
        self._arrange()
        self.endResetModel()

    def set_states(self, name_state: Callable[[Candidate], str | None] | None) -> None:
        """Set the function that names the drawn target states; it is called for displayed rows only."""
        self._name_state, self._states = name_state or _no_state, {}
        if self._sorting[0] == CandidateColumn.STATE:
            self.sort(*self._sorting)
        elif self._rows:
            self.dataChanged.emit(
                self.index(0, CandidateColumn.STATE), self.index(len(self._rows) - 1, CandidateColumn.STATE)
            )

    @property
    def engines(self) -> tuple[ExtraColumn, ...]:
        """Return the columns that follow the others, such as those of engines."""
        return self._engines

    def set_engines(self, engines: tuple[ExtraColumn, ...]) -> None:
        """Set the columns that follow the others."""
        if [engine.title for engine in engines] == [engine.title for engine in self._engines]:
            self._engines = engines
            if self._sorting[0] >= len(CandidateColumn):
                self.sort(*self._sorting)
            elif self._rows and engines:
                last = self.index(len(self._rows) - 1, self.columnCount() - 1)
                self.dataChanged.emit(self.index(0, len(CandidateColumn)), last)
            return
        self.beginResetModel()
        self._engines = engines
        if self._sorting[0] >= self.columnCount():
            self._sorting = (CandidateColumn.PROBABILITY, Qt.SortOrder.DescendingOrder)
        self._arrange()
        self.endResetModel()

    @property
    def peak(self) -> float:
        """Return the probability of a full bar."""
        return self._peak

    def candidate(self, row: int) -> Candidate | None:
        """Return the candidate in a row; None outside of the table."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def first_allowed(self) -> int:
        """Return the first row with an allowed token, -1 if there is none."""
        return next((row for row, candidate in enumerate(self._rows) if candidate.allowed), -1)

    def row_of(self, token_id: int) -> int:
        """Return the row of a token, -1 if it is not shown."""
        return next((row for row, candidate in enumerate(self._rows) if candidate.token_id == token_id), -1)

    # --- QAbstractTableModel --------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of candidates shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns; a narrow view hides some."""
        return 0 if parent.isValid() else len(CandidateColumn) + len(self._engines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell for screen readers; the view paints the cells itself."""
        candidate = self.candidate(index.row()) if index.isValid() else None
        if candidate is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(candidate, index.column())
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(index.column())
            case Qt.ItemDataRole.ToolTipRole:
                return plain_text("\n".join([tool_tip(candidate), *self._engine_lines(candidate)]))
            case Qt.ItemDataRole.AccessibleDescriptionRole:
                allowed = ui_text("common.fragment.allowed" if candidate.allowed else "common.fragment.masked")
                return f"{allowed}, {rest_of_row(index)}" if index.column() in _ANNOUNCED else allowed
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return column titles and their tips."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        engine = self._engine(section)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title(CandidateColumn(section)) if engine is None else engine.title
            case Qt.ItemDataRole.ToolTipRole:
                if engine is not None:
                    return plain_text(engine.tip)
                return ui_text(f"models.candidates.column.{CandidateColumn(section).name.lower()}.tip")
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(section)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; the order is kept for later steps."""
        if not 0 <= column < self.columnCount():
            return
        self.layoutAboutToBeChanged.emit()
        kept = [(index, self.candidate(index.row())) for index in self.persistentIndexList()]
        self._sorting = (column, order)
        self._arrange()
        rows = {candidate.token_id: row for row, candidate in enumerate(self._rows)}
        for old, candidate in kept:
            row = rows.get(candidate.token_id, -1) if candidate is not None else -1
            self.changePersistentIndex(old, self.index(row, old.column()) if row >= 0 else QModelIndex())
        self.layoutChanged.emit()

    def _engine(self, column: int) -> ExtraColumn | None:
        return self._engines[column - len(CandidateColumn)] if column >= len(CandidateColumn) else None

    def _engine_lines(self, candidate: Candidate) -> list[str]:
        """Return what the engines do with a token, for its tool tip."""
        return [f"{engine.title}: {engine.text(candidate)}" for engine in self._engines]

    def _text(self, candidate: Candidate, column: int) -> str:
        engine = self._engine(column)
        if engine is not None:
            return engine.text(candidate)
        if column == CandidateColumn.STATE:
            return self.state_text(candidate)
        return COLUMNS[CandidateColumn(column)].text(candidate)

    def state_text(self, candidate: Candidate) -> str:
        """Return the name of the drawn state that a candidate leads to."""
        if without_state := COLUMNS[CandidateColumn.STATE].text(candidate):
            return without_state
        name = self._states.get(candidate.token_id)
        if name is None:
            name = self._states[candidate.token_id] = self._name_state(candidate) or "…"
        return name

    def _arrange(self) -> None:
        column, order = self._sorting
        rows = (c for c in self._all if c.allowed or not self._allowed_only)
        engine = self._engine(column)
        if engine is not None:
            key: Callable[[Candidate], tuple[float | str, ...]] = engine.key
        else:
            key = self._by_state if column == CandidateColumn.STATE else COLUMNS[CandidateColumn(column)].key
        self._rows = sorted(rows, key=key, reverse=order is Qt.SortOrder.DescendingOrder)

    def _by_state(self, candidate: Candidate) -> tuple[float, ...]:
        """Sort key: state numbers ascending, after candidates without a state, before states that are not drawn."""
        name = self.state_text(candidate)
        number = int(name) if name.isdecimal() else math.inf if candidate.allowed and not candidate.is_eos else -1
        return number, -_rank(candidate)


def title(column: CandidateColumn) -> str:
    """Return the title of a column."""
    if column is CandidateColumn.STATE:
        return ui_text("automaton.states.column.state")
    return ui_text(f"models.candidates.column.{column.name.lower()}.label")


def _no_state(_candidate: Candidate) -> None:
    """Return None: no automaton is drawn."""


def _rank(candidate: Candidate) -> float:
    """Return the rank for sorting: an unknown one is below all others."""
    return math.inf if candidate.rank is None else candidate.rank


def weight(candidate: Candidate) -> float:
    """Return the larger probability of a candidate, before or after the mask; -1 if it is unknown.

    What a probability after the mask is at least counts if it is unknown.
    """
    if candidate.p is None:
        return -1.0
    masked = candidate.p_masked
    if masked is None:
        masked = candidate.masked_bounds.low if candidate.masked_bounds else 0.0
    return max(candidate.p, masked)


def peak_of(candidates: Iterable[Candidate]) -> float:
    """Return the largest known probability among candidates, before or after the mask."""
    return max(0.0, max(map(weight, candidates), default=0.0))


def tool_tip(candidate: Candidate) -> str:
    """Return all facts about a candidate, one per line."""
    token, p = candidate_text(candidate), percent(candidate.p)
    named = {"token": token, "token_id": candidate.token_id}
    if candidate.rank is None:
        lines = [ui_text("models.candidates.tip.token_without_rank", **named)]
    else:
        lines = [ui_text("models.candidates.tip.token", **named, rank=candidate.rank)]
    if candidate.token:
        lines.append(ui_text("models.candidates.tip.bytes", bytes=candidate.token.hex(" ")))
    if candidate.allowed:
        bounds = candidate.masked_bounds
        masked = percent(candidate.p_masked) if bounds is None else percent_between(*bounds)
        lines.append(ui_text("generation.chip.model", p=p, masked=masked))
        lines.append(ui_text("models.candidates.tip.sampled", p=percent(candidate.p_sampled)))
        lines.append(ui_text("models.candidates.tip.take"))
    else:
        lines.append(ui_text("models.candidates.tip.masked", p=p))
        lines.append(ui_text("models.candidates.tip.why"))
    if candidate.p is None:
        lines.insert(1, ui_text("models.candidates.tip.unknown", most=percent(candidate.p_most)))
    elif candidate.masked_bounds is not None:
        lines.insert(1, ui_text("models.candidates.tip.bounds"))
    return "\n".join(lines)


def masked_text(candidate: Candidate) -> str:
    """Return the probability after the mask for its column; a dash if the token is masked.

    Of an unknown one, it is what it is at least, if that is known.
    """
    if not candidate.allowed:
        return NOTHING
    bounds = candidate.masked_bounds
    if bounds is None or bounds.low == 0:
        return percent_column(candidate.p_masked)
    low, high = map(percent_column, bounds)
    return low if low == high else f"≥{low.removeprefix('>')}"


def _alignment(column: int) -> Qt.AlignmentFlag:
    if column == CandidateColumn.PROBABILITY or column >= len(CandidateColumn):
        return Qt.AlignmentFlag.AlignCenter
    side = Qt.AlignmentFlag.AlignLeft if column in _LEFT else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
