"""Which part of an automaton to draw: all of it, or what lies around where the match stands.

Pure: states and edges in, an excerpt out. A state of the excerpt that leads to
states outside it carries their number, which is drawn as a "+37" stub, so that
an excerpt never passes for the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.graph.folding import Fold
from engine.automata.dfa import ByteDfa, DfaEdge


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

    def __init__(self, dfa: ByteDfa, fold: Fold | None = None) -> None:
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

    def around(self, centres: Iterable[int], radius: int = 2, limit: int = 60) -> Excerpt:
        """The states within `radius` edges of any centre, at most `limit` of them.

        Nearer states come first; at one distance, what comes next before what came before.
        Without centres, the surroundings of the start.
        """
        start = () if self._dfa.start is None else (self._dfa.start,)
        chosen = dict.fromkeys(list(centres)[:limit] or start)
        ring = list(chosen)
        for _ in range(radius):
            ahead = [edge.target for state in ring for edge in self._out[state]]
            behind = [edge.source for state in ring for edge in self._in[state]]
            ring = [state for state in dict.fromkeys((*ahead, *behind)) if state not in chosen]
            ring = ring[: limit - len(chosen)]
            chosen.update(dict.fromkeys(ring))
        return self._excerpt(chosen)

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
