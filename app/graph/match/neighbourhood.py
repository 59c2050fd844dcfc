"""Selects the part of an automaton to draw: all of it, or the neighbourhood of the live states.

Pure: states and edges in, an excerpt out. A state of the excerpt with targets outside of it has their number, which is
drawn as a "+37" stub, so that an excerpt never looks complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.graph.match.folding import FoldedAutomaton
from engine.automata.dfa.dfa import ByteDfa, DfaEdge


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of an automaton.

    Attributes:
        states: the ids of the states to draw, ascending.
        edges: the edges between them.
        hidden: the number of targets outside of the excerpt, for states that have any; None if unknown.
    """

    states: tuple[int, ...]
    edges: tuple[DfaEdge, ...]
    hidden: Mapping[int, int | None]


class Surroundings:
    """An automaton's edges indexed by their ends, so that the cost of an excerpt depends on its own size.

    With a fold, the states inside a character are left out.
    """

    def __init__(self, dfa: ByteDfa, fold: FoldedAutomaton | None = None) -> None:
        self._dfa = dfa
        inner = fold.inner if fold is not None else frozenset()
        self._states = [state.id for state in dfa.states if state.id not in inner]
        self._out: list[list[DfaEdge]] = [[] for _ in dfa.states]
        self._in: list[list[DfaEdge]] = [[] for _ in dfa.states]
        for edge in dfa.edges if fold is None else fold.edges:
            self._out[edge.source].append(edge)
            self._in[edge.target].append(edge)

    def leaving(self, state: int) -> tuple[DfaEdge, ...]:
        """Return the outgoing edges of a state."""
        return tuple(self._out[state])

    def entering(self, state: int) -> tuple[DfaEdge, ...]:
        """Return the incoming edges of a state."""
        return tuple(self._in[state])

    @property
    def keys(self) -> Iterator[tuple[int, int]]:
        """Return the source and the target of each edge."""
        return ((edge.source, edge.target) for edges in self._out for edge in edges)

    def whole(self) -> Excerpt:
        """Return the complete automaton."""
        return self._excerpt(self._states)

    @property
    def size(self) -> tuple[int, int]:
        """Return the numbers of states and edges."""
        return len(self._states), sum(map(len, self._out))

    def around(self, centres: Iterable[int], radius: int = 2, limit: int = 60, opened: Collection[int] = ()) -> Excerpt:
        """Return at most `limit` states within `radius` edges of any centre, and the targets of opened ones.

        Nearer states come first; at one distance, targets before sources. Without centres, the neighbourhood of the
        start.

        Args:
            centres: the states in the middle.
            radius: the maximum distance in edges.
            limit: the maximum number of states without the opened targets.
            opened: states whose targets are added.
        """
        return self._expand(list(centres)[:limit] or self._start, radius, limit, opened, None)

    def within(
        self, states: Collection[int], centres: Iterable[int], limit: int = 60, opened: Collection[int] = ()
    ) -> Excerpt:
        """Return some states, at most `limit` of them, those near the centres first, and the targets of opened ones.

        Args:
            states: the states.
            centres: where to begin if there are too many.
            limit: the maximum number of states without the opened targets.
            opened: states whose targets are added.
        """
        members = frozenset(states) & frozenset(self._states)
        if len(members) <= limit:
            return self._excerpt(self._with_opened(dict.fromkeys(sorted(members)), opened))
        first = min(members, default=None)
        begin = [state for state in centres if state in members] or ([] if first is None else [first])
        return self._expand(begin[:limit], limit, limit, opened, members)

    def following(self, state: int) -> frozenset[int]:
        """Return the targets of a state."""
        return frozenset(edge.target for edge in self._out[state])

    def neighbours(self, state: int) -> frozenset[int]:
        """Return the states that an edge connects to a state."""
        return self.following(state) | {edge.source for edge in self._in[state]} - {state}

    @property
    def _start(self) -> list[int]:
        return [] if self._dfa.start is None else [self._dfa.start]

    def _expand(
        self, begin: Iterable[int], radius: int, limit: int, opened: Collection[int], members: frozenset[int] | None
    ) -> Excerpt:
        chosen = dict.fromkeys(begin)
        frontier = list(chosen)
        for _ in range(radius):
            ahead = [edge.target for state in frontier for edge in self._out[state]]
            behind = [edge.source for state in frontier for edge in self._in[state]]
            found = (state for state in dict.fromkeys((*ahead, *behind)) if state not in chosen)
            frontier = [state for state in found if members is None or state in members][: limit - len(chosen)]
            if not frontier:
                break
            chosen.update(dict.fromkeys(frontier))
        return self._excerpt(self._with_opened(chosen, opened))

    def _with_opened(self, chosen: dict[int, None], opened: Collection[int]) -> dict[int, None]:
        """Add the targets of the opened states that are drawn, in the order in which they were opened."""
        for state in opened:
            if state in chosen:
                chosen |= dict.fromkeys(edge.target for edge in self._out[state])
        return chosen

    def _excerpt(self, chosen: Iterable[int]) -> Excerpt:
        states = tuple(sorted(chosen))
        drawn = frozenset(states)
        edges: list[DfaEdge] = []
        hidden: dict[int, int | None] = {}
        for state in states:
            inside = [edge for edge in self._out[state] if edge.target in drawn]
            edges += inside
            if len(inside) < len(self._out[state]):
                hidden[state] = len(self._out[state]) - len(inside)
            if state in self._dfa.boundary:
                hidden[state] = None
        return Excerpt(states, tuple(edges), hidden)
