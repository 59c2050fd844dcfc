"""The automaton as a table: one row for each state, with the edges that leave it.

The graph also reads as a table: for a screen reader, for copying, and for
automata that no drawing serves. Texts are made when a row is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.graph.picture import written
from engine.automata.dfa import ByteDfa, DfaEdge
from engine.source import SourceText, Span

_COLUMNS = ("State", "Here", "Accepts", "Leads to", "Reads")
STATE, HERE, ACCEPTS, LEADS_TO, READS = range(len(_COLUMNS))
_EDGES_SHOWN = 40
_HELP = (
    "The state's number in the automaton",
    "Whether the match stands here now",
    "Whether the text may end here",
    "Each byte class and the state that it leads to",
    "What the grammar may read next, in its own words",
)

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
        self._source: SourceText | None = None
        self._live: frozenset[int] = frozenset()

    def show_dfa(
        self,
        dfa: ByteDfa | None,
        label: Callable[[DfaEdge], str],
        source: SourceText | None,
        name: Callable[[int], str] = str,
    ) -> None:
        """Show another automaton, or none; `name` is how a state is called."""
        self.beginResetModel()
        self._dfa, self._label, self._source, self._live = dfa, label, source, frozenset()
        self._name = name
        self._edges = None
        self.endResetModel()

    def set_live(self, states: Collection[int]) -> None:
        """Mark the states where the match stands."""
        changed = self._live ^ frozenset(states)
        self._live = frozenset(states)
        for state in changed:
            if state < self.rowCount():
                self.dataChanged.emit(self.index(state, STATE), self.index(state, READS))

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One row for each state."""
        return 0 if parent.isValid() or self._dfa is None else len(self._dfa.states)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """The columns are fixed."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Column titles and what they mean."""
        if orientation == Qt.Orientation.Horizontal and 0 <= section < len(_COLUMNS):
            if role == Qt.ItemDataRole.DisplayRole:
                return _COLUMNS[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return _HELP[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts; a live state is bold as well as marked."""
        if not index.isValid() or self._dfa is None:
            return None
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            return self._text(index.row(), index.column())
        return None

    def _text(self, state: int, column: int) -> str:
        assert self._dfa is not None
        if column == STATE:
            return f"{self._name(state)} (start)" if state == self._dfa.start else self._name(state)
        if column == HERE:
            return "● here" if state in self._live else ""
        if column == ACCEPTS:
            return "◎ accepts" if self._dfa.states[state].accepting else ""
        if column == LEADS_TO:
            return self._leads_to(state)
        return excerpts(self._dfa.states[state].spans, self._source)

    def _leads_to(self, state: int) -> str:
        assert self._dfa is not None
        if self._edges is None:
            self._edges = [[] for _ in self._dfa.states]
            for edge in self._dfa.edges:
                self._edges[edge.source].append(edge)
        edges = self._edges[state]
        said = ((" ".join(map(written, self._label(edge).split("\n"))), edge.target) for edge in edges[:_EDGES_SHOWN])
        parts = [f"{label} → {self._name(target)}".strip() for label, target in said]
        if len(edges) > _EDGES_SHOWN:
            parts.append(f"and {len(edges) - _EDGES_SHOWN:,} more")
        if state in self._dfa.boundary:
            parts.append("…")
        return " ,  ".join(parts)


def excerpts(spans: Collection[Span], source: SourceText | None, limit: int = 6) -> str:
    """What the spans of a state cover, in the grammar's own words; their offsets where the text is not known."""
    if source is None:
        texts = [f"{span.start}-{span.end}" for span in spans]
    else:
        texts = [source.excerpt(span).replace("\n", "↵") for span in spans if span.end <= len(source.text)]
    shown = list(dict.fromkeys(text for text in texts if text))
    return "  ".join(shown[:limit]) + ("  …" if len(shown) > limit else "")
