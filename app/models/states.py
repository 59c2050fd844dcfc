"""The automaton as a table: one row for each state, with its outgoing edges.

The table is for screen readers, for copying, and for automata that are too large to draw. Texts are computed when a row
is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.catalogue import ui_text
from app.graph.draw.diagram import label_text
from app.models.rows import rest_of_row
from app.theme.labels import plain_text
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.source import SourceText, Span

_COLUMNS = ("state", "here", "accepts", "leads_to", "reads", "marks")
STATE, HERE, ACCEPTS, LEADS_TO, READS, MARKS = range(len(_COLUMNS))
_EDGES_SHOWN = 40
_MOST_SINGLE_ROWS = 8

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class StatesModel(QAbstractTableModel):
    """The states of one automaton, in the order of their numbers."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._dfa: ByteDfa | None = None
        self._edges: list[list[DfaEdge]] | None = None  # by state, once a row is shown
        self._label: Callable[[DfaEdge], str] = lambda _: ""
        self._name: Callable[[int], str] = str
        self._noun = "state"
        self._source: SourceText | None = None
        self._live: frozenset[int] = frozenset()
        self._breakpoints: Mapping[int, bool] = {}
        self._parted: Mapping[int, str] = {}
        self._notes: Mapping[int, str] = {}
        self._heat: Mapping[int, str] = {}
        self._tokens: Mapping[tuple[int, int], str] = {}

    def show_dfa(
        self,
        dfa: ByteDfa | None,
        label: Callable[[DfaEdge], str],
        source: SourceText | None,
        name: Callable[[int], str] = str,
        noun: str = "state",
    ) -> None:
        """Show another automaton, or none.

        Args:
            dfa: the automaton.
            label: returns the label of an edge.
            source: the grammar's text; None if unknown.
            name: returns the name of a state.
            noun: what one of its states represents: a state, a rule, a region or a target of tokens.
        """
        self.beginResetModel()
        self._dfa, self._label, self._source, self._live = dfa, label, source, frozenset()
        self._name, self._noun = name, noun
        self._edges = None
        self._breakpoints, self._heat, self._tokens, self._parted, self._notes = {}, {}, {}, {}, {}
        self.endResetModel()

    @property
    def columns_in_use(self) -> frozenset[int]:
        """Return the columns that say something: rules accept nothing and read their name, most states have no mark."""
        columns = {STATE, HERE, LEADS_TO}
        if self._noun != "rule":
            columns |= {ACCEPTS, READS}
        if self._breakpoints or self._parted or self._notes or self._heat:
            columns.add(MARKS)
        return frozenset(columns)

    def set_live(self, states: Collection[int]) -> None:
        """Mark the live states."""
        changed = self._live ^ frozenset(states)
        self._live = frozenset(states)
        self._emit_changes(changed)

    def set_breakpoints(self, states: Mapping[int, bool]) -> None:
        """Mark the states with a breakpoint; the value is whether it is enabled."""
        changed = dict(states).items() ^ dict(self._breakpoints).items()
        self._breakpoints = states
        self._emit_changes({state for state, _ in changed})

    def set_parted(self, states: Mapping[int, str]) -> None:
        """Mark the states at which the masks of engines differ; the value says how."""
        changed = dict(states).items() ^ dict(self._parted).items()
        self._parted = states
        self._emit_changes({state for state, _ in changed})

    def parted_text(self, state: int) -> str:
        """Return how the masks of engines differ at a state; empty if they do not."""
        return self._parted.get(state, "")

    def set_notes(self, states: Mapping[int, str]) -> None:
        """Show what the user noted about states; names change the first column, too."""
        changed = {*states, *self._notes}
        self._notes = states
        self._emit_changes(changed)

    def note_text(self, state: int) -> str:
        """Return what the user noted about a state; empty if nothing."""
        return self._notes.get(state, "")

    def set_heat(self, states: Mapping[int, str]) -> None:
        """Say how many texts use each state, or what was lost there."""
        if states != self._heat:
            self._heat = states
            self._emit_changes(range(self.rowCount()))

    def set_tokens(self, texts: Mapping[tuple[int, int], str]) -> None:
        """Show the tokens that take an edge."""
        changed = {source for source, _ in (*texts, *self._tokens)}
        self._tokens = texts
        self._emit_changes(changed)

    def token_text(self, key: tuple[int, int]) -> str:
        """Return the tokens that take an edge; empty if they are unknown."""
        return self._tokens.get(key, "")

    def _emit_changes(self, states: Collection[int]) -> None:
        """Emit `dataChanged` for some states; as one range if there are many."""
        rows = sorted(state for state in states if 0 <= state < self.rowCount())
        spans = [(rows[0], rows[-1])] if len(rows) > _MOST_SINGLE_ROWS else [(row, row) for row in rows]
        for first, last in spans:
            self.dataChanged.emit(self.index(first, STATE), self.index(last, MARKS))

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of states."""
        return 0 if parent.isValid() or self._dfa is None else len(self._dfa.states)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return column titles and their tips."""
        if orientation == Qt.Orientation.Horizontal and 0 <= section < len(_COLUMNS):
            if role == Qt.ItemDataRole.DisplayRole:
                return self._title(section)
            if role == Qt.ItemDataRole.ToolTipRole:
                return ui_text(f"automaton.states.tip.{_COLUMNS[section]}")
        return None

    def _title(self, column: int) -> str:
        if column == STATE and self._noun in ("rule", "region"):
            return ui_text(f"automaton.states.column.{self._noun}")
        name = "calls" if column == LEADS_TO and self._noun == "rule" else _COLUMNS[column]
        return ui_text(f"automaton.states.column.{name}")

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the texts of a cell."""
        if not index.isValid() or self._dfa is None:
            return None
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_text(self._text(index.row(), index.column()))
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return self._text(index.row(), index.column())
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and index.column() == STATE:
            return rest_of_row(index)
        return None

    def _text(self, state: int, column: int) -> str:
        assert self._dfa is not None
        if column == STATE:
            name = self._name(state)
            return ui_text("automaton.states.start", name=name) if state == self._dfa.start else name
        if column == HERE:
            return ui_text("automaton.states.mark.here") if state in self._live else ""
        if column == ACCEPTS:
            return ui_text("automaton.states.mark.accepts") if self._dfa.states[state].accepting else ""
        if column == MARKS:
            return self._marks(state)
        if column == LEADS_TO:
            return self._leads_to(state)
        return excerpts(self._dfa.states[state].spans, self._source)

    def _marks(self, state: int) -> str:
        marks = []
        if state in self._breakpoints:
            key = "breakpoint" if self._breakpoints[state] else "breakpoint_off"
            marks.append(ui_text(f"automaton.states.mark.{key}"))
        if state in self._parted:
            marks.append(ui_text("automaton.states.mark.parted"))
        if state in self._notes:
            marks.append(self._notes[state].replace("\n", " "))
        if state in self._heat:
            marks.append(self._heat[state])
        return " · ".join(marks)

    def _leads_to(self, state: int) -> str:
        assert self._dfa is not None
        if self._edges is None:
            self._edges = [[] for _ in self._dfa.states]
            for edge in self._dfa.edges:
                self._edges[edge.source].append(edge)
        edges = self._edges[state]
        parts = [self._edge_text(edge) for edge in edges[:_EDGES_SHOWN]]
        if len(edges) > _EDGES_SHOWN:
            parts.append(ui_text("common.fragment.and_more", count=len(edges) - _EDGES_SHOWN))
        if state in self._dfa.boundary:
            parts.append("…")
        return " ,  ".join(parts)

    def _edge_text(self, edge: DfaEdge) -> str:
        if self._noun == "rule":
            return self._name(edge.target)
        label = " ".join(map(label_text, self._label(edge).split("\n")))
        tokens = self._tokens.get((edge.source, edge.target), "")
        return f"{label} → {self._name(edge.target)}".strip() + (f" ({tokens})" if tokens else "")


def excerpts(spans: Collection[Span], source: SourceText | None, limit: int = 6) -> str:
    """Return the source text of a state's spans; their offsets if the text is unknown.

    Args:
        spans: the spans.
        source: the grammar's text; None if unknown.
        limit: the number of texts after which an ellipsis follows.
    """
    if source is None:
        texts = [f"{span.start}-{span.end}" for span in spans]
    else:
        texts = [source.excerpt(span).replace("\n", "↵") for span in spans if span.end <= len(source.text)]
    shown = list(dict.fromkeys(text for text in texts if text))
    return "  ".join(shown[:limit]) + ("  …" if len(shown) > limit else "")
