"""Which part of an automaton to draw: all of it, or what lies around where the match stands.

Pure: states and edges in, an excerpt out. A state of the excerpt that leads to
states outside it carries their number, which is drawn as a "+37" stub, so that
an excerpt never passes for the whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from app.graph.match.folding import FoldedEdge
from engine.automata.dfa.dfa import ByteDfa, DfaEdge


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of an automaton.

    Attributes:
        states: the ids of the states to draw, ascending.
        edges: the edges between them.
        hidden: for a state with successors outside the excerpt, how many; None: some, nobody counted them.
    """

    states: tuple[int, ...]
    edges: tuple[DfaEdge, ...]
    hidden: Mapping[int, int | None]


class Surroundings:
    """An automaton's edges by their ends, so that an excerpt costs what it shows and not what there is.

    With a fold, the states within a character are left out.
    """

    def __init__(self, dfa: ByteDfa, fold: FoldedEdge | None = None) -> None:
        self._dfa = dfa
        inner = fold.inner if fold is not None else frozenset()
        self._states = [state.id for state in dfa.states if state.id not in inner]
        self._out: list[list[DfaEdge]] = [[] for _ in dfa.states]
        self._in: list[list[DfaEdge]] = [[] for _ in dfa.states]
        for edge in dfa.edges if fold is None else fold.edges:
            self._out[edge.source].append(edge)
            self._in[edge.target].append(edge)

    def leaving(self, state: int) -> tuple[DfaEdge, ...]:
        """The edges that leave a state."""
        return tuple(self._out[state])

    def whole(self) -> Excerpt:
        """The automaton entire."""
        return self._excerpt(self._states)

    @property
    def size(self) -> tuple[int, int]:
        """How many states and edges there are."""
        return len(self._states), sum(map(len, self._out))

    def around(self, centres: Iterable[int], radius: int = 2, limit: int = 60, opened: Collection[int] = ()) -> Excerpt:
        """The states within `radius` edges of any centre, at most `limit` of them, and what follows opened ones.

        Nearer states come first; at one distance, what comes next before what came before.
        Without centres, the surroundings of the start.
        """
        return self._grown(list(centres)[:limit] or self._start, radius, limit, opened, None)

    def within(
        self, states: Collection[int], centres: Iterable[int], limit: int = 60, opened: Collection[int] = ()
    ) -> Excerpt:
        """Some states, at most `limit` of them, those near the centres first; and what follows opened ones."""
        members = frozenset(states) & frozenset(self._states)
        if len(members) <= limit:
            return self._excerpt(self._with(dict.fromkeys(sorted(members)), opened))
        first = min(members, default=None)
        begin = [state for state in centres if state in members] or ([] if first is None else [first])
        return self._grown(begin[:limit], limit, limit, opened, members)

    def following(self, state: int) -> frozenset[int]:
        """Where the edges of a state lead."""
        return frozenset(edge.target for edge in self._out[state])

    def neighbours(self, state: int) -> frozenset[int]:
        """The states that an edge joins to a state."""
        return self.following(state) | {edge.source for edge in self._in[state]} - {state}

    @property
    def _start(self) -> list[int]:
        return [] if self._dfa.start is None else [self._dfa.start]

    def _grown(
        self, begin: Iterable[int], radius: int, limit: int, opened: Collection[int], members: frozenset[int] | None
    ) -> Excerpt:
        chosen = dict.fromkeys(begin)
        ring = list(chosen)
        for _ in range(radius):
            ahead = [edge.target for state in ring for edge in self._out[state]]
            behind = [edge.source for state in ring for edge in self._in[state]]
            found = (state for state in dict.fromkeys((*ahead, *behind)) if state not in chosen)
            ring = [state for state in found if members is None or state in members][: limit - len(chosen)]
            if not ring:
                break
            chosen.update(dict.fromkeys(ring))
        return self._excerpt(self._with(chosen, opened))

    def _with(self, chosen: dict[int, None], opened: Collection[int]) -> dict[int, None]:
        """What follows the opened states too, once they are drawn, in the order in which they were opened."""
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
