"""A complete deterministic byte automaton, as a value to draw, export and minimise.

It contains no numpy array, so that it can be sent to the window as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from engine.automata.byte_classes import ByteRanges
from engine.source import InvariantError, Span


@dataclass(frozen=True, slots=True)
class DfaState:
    """A state; its id is its index.

    Attributes:
        accepting: whether the text may end here.
        spans: the source locations that may come next, of all states that were merged into it.
    """

    id: int
    accepting: bool
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class DfaEdge:
    """All bytes that lead from one state to another, and the source locations that read them."""

    source: int
    target: int
    ranges: ByteRanges
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ByteDfa:
    """A deterministic automaton over bytes; a byte without an edge is refused.

    Attributes:
        start: the first state; None if the language is empty.
        states: the states, by id.
        edges: one edge for each pair of states, sorted.
        boundary: the states of which edges are left out; empty for a complete automaton.
    """

    start: int | None
    states: tuple[DfaState, ...]
    edges: tuple[DfaEdge, ...]
    boundary: frozenset[int] = frozenset()
    _rows: tuple[tuple[tuple[int, int, int], ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ids = set(range(len(self.states)))
        if [state.id for state in self.states] != sorted(ids):
            raise InvariantError("errors.invariant.state_id")
        used = {*self.boundary, *(e.source for e in self.edges), *(e.target for e in self.edges)}
        if not used <= ids or (self.start is not None and self.start not in ids):
            raise InvariantError("errors.invariant.edge_state")
        rows: list[list[tuple[int, int, int]]] = [[] for _ in self.states]
        for edge in self.edges:
            rows[edge.source] += [(first, last, edge.target) for first, last in edge.ranges]
        for state, row in enumerate(rows):
            row.sort()
            for (_, last, _), (first, _, _) in pairwise(row):
                if first <= last:
                    raise InvariantError("errors.invariant.two_targets", byte=f"{first:#04x}", state=state)
        object.__setattr__(self, "_rows", tuple(tuple(row) for row in rows))

    def step(self, state: int, byte: int) -> int | None:
        """Return the state after a byte; None if it is refused."""
        for first, last, target in self._rows[state]:
            if first <= byte <= last:
                return target
        return None

    def run(self, data: bytes, state: int | None = None) -> int | None:
        """Return the state after all bytes, from the start or from `state`; None if one is refused."""
        at = self.start if state is None else state
        for byte in data:
            if at is None:
                return None
            at = self.step(at, byte)
        return at

    def accepts(self, data: bytes) -> bool:
        """Return whether the bytes match in full."""
        at = self.run(data)
        return at is not None and self.states[at].accepting
