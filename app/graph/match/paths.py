"""Paths from the start of an automaton: the states and edges that a text passes, and states matched after an edit.

A text grows by a token at a time, so its common prefix with the last one is not run again.

After an edit of the grammar, states are matched by their paths: the same characters lead to them. Their numbers cannot
be compared, since a minimal automaton is numbered again after every edit, and one more alternative changes nearly all
of them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import FoldedAutomaton
from engine.automata.byte_classes import ByteRanges
from engine.automata.dfa.dfa import ByteDfa
from engine.source.text import common_length


class PathTracker:
    """Follows one text through one automaton."""

    def __init__(self, dfa: ByteDfa) -> None:
        self._dfa = dfa
        self._text = b""
        self._states: list[int] = [] if dfa.start is None else [dfa.start]

    def follow(self, text: bytes) -> Sequence[int]:
        """Return the states that a text passes, the start first; as far as the text is legal."""
        shared = common_length(self._text, text)
        del self._states[shared + 1 :]
        for byte in text[len(self._states) - 1 :] if self._states else b"":
            after = self._dfa.step(self._states[-1], byte)
            if after is None:
                break
            self._states.append(after)
        self._text = text[: max(0, len(self._states) - 1)]
        return self._states


def path_edges(states: Iterable[int], fold: FoldedAutomaton | None = None) -> frozenset[EdgeKey]:
    """Return the edges between consecutive states; with a fold, those that are drawn."""
    return frozenset(pairwise(states)) if fold is None else fold.path(states)


def group_edges(states: Iterable[int], group_of: Sequence[int]) -> frozenset[EdgeKey]:
    """Return the edges between groups of consecutive states."""
    return frozenset(pair for pair in pairwise(group_of[state] for state in states) if pair[0] != pair[1])


def match_states(before: ByteDfa, after: ByteDfa) -> dict[int, int]:
    """Return the states of the later automaton with those of the earlier one that the same edges lead to."""
    if before.start is None or after.start is None:
        return {}
    path_edges: defaultdict[int, list[tuple[ByteRanges, int]]] = defaultdict(list)
    for edge in before.edges:
        path_edges[edge.source].append((edge.ranges, edge.target))
    same = {(edge.source, edge.ranges): edge.target for edge in after.edges}
    found, taken, queue = {after.start: before.start}, {before.start}, deque([after.start])
    while queue:
        state = queue.popleft()
        for ranges, old in path_edges[found[state]]:
            new = same.get((state, ranges))
            if new is not None and new not in found and old not in taken:
                found[new] = old
                taken.add(old)
                queue.append(new)
    return found
