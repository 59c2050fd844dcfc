"""The graph of states and tokens of a grammar, computed with numpy: where each token leads from a state.

The walk of the byte trie goes level by level, with all nodes of a depth at once,
and a table of states and byte classes that is filled as entries are needed. A permissive
state allows a hundred thousand tokens that lead to a dozen states, so Python code
runs for a few hundred bytes and numpy does the rest.

`engine.analysis.token_successors` computes the successor states only, one node after
the other; tests use it as the reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine.analysis.token_successors import heights_of
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.masking.token_sets import TokenSets
from engine.source import LimitExceededError, check_cancelled, checkpoint
from engine.source.lru import LruCache
from engine.vocabulary import Trie, Vocabulary

_UNKNOWN, _NOWHERE = -2, -1
_CACHED_WALKS = 32

Ints = NDArray[np.int32]


class Steps(NamedTuple):
    """The allowed tokens of a state, and the states to which they lead.

    Attributes:
        tokens: int32[n], the token ids, in no particular order.
        after: int32[n], the number of the state to which each token leads.
        targets: the distinct numbers in `after`.
    """

    tokens: Ints
    after: Ints
    targets: tuple[int, ...]


class WalkCost(NamedTuple):
    """The cost of a walk of the trie.

    Attributes:
        nodes: the number of nodes of the trie that are visited.
        met: the states that bytes of tokens lead through, including the first one.
    """

    nodes: int
    met: tuple[int, ...]


class TokenGraph:
    """The states of one grammar over one vocabulary, numbered as they are discovered.

    The numbers are valid until `evict_states`, which is necessary if the `generation` of the automaton changes.

    Args:
        automaton: the automaton of the grammar.
        vocabulary: the vocabulary.
        most_advances: the number of steps of the automaton after which the next one is a `LimitExceededError`; None for
            no limit. A graph computes each step once, whatever the automaton remembers, so the limit depends on the
            grammar and the walks alone.
    """

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary, most_advances: int | None = None) -> None:
        self._automaton, self._tokens = automaton, vocabulary.tokens
        self._trie = vocabulary.trie
        self._children, self._heights = _children_of(vocabulary.trie), heights_of(vocabulary.trie)
        self._most_advances, self._advances = most_advances, 0
        self._sets = TokenSets(vocabulary, automaton.token_elements) if automaton.token_elements else None
        self.evict_states()

    def evict_states(self) -> None:
        """Drop all states and their numbers."""
        self.generation = self._automaton.generation
        self._cursors: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._reached_from: list[tuple[int, int]] = []  # the predecessor and a byte, or -1 and a configuration
        self._rows: Ints = np.full((64, self._automaton.n_classes), _UNKNOWN, dtype=np.int32)
        self._walks: LruCache[int, Steps] = LruCache(_CACHED_WALKS)
        self._successors: dict[int, tuple[int, ...]] = {}
        self._costs: dict[int, WalkCost] = {}

    def __len__(self) -> int:
        return len(self._cursors)

    def cursor(self, configuration: int) -> int:
        """Return the number of the state of a configuration."""
        return self._number(self._automaton.cursor(configuration), (-1, configuration))

    def cursor_of(self, number: int) -> Any:
        """Return the cursor of a state, for `ByteAutomaton.advance`."""
        return self._cursors[number]

    def configuration(self, number: int) -> int:
        """Return a configuration of a state; it is interned, which may make the automaton evict states."""
        read = bytearray()
        source, label = self._reached_from[number]
        while source >= 0:
            read.append(label)
            source, label = self._reached_from[source]
        return self._automaton.run(label, bytes(reversed(read))) if read else label

    def advance(self, number: int, byte: int) -> int | None:
        """Return the state after a byte; None if the byte is not allowed."""
        at = number, self._automaton.class_of_byte[byte]
        if self._rows[at] == _UNKNOWN:
            self._fill(number, byte)
        after = int(self._rows[at])
        return None if after == _NOWHERE else after

    def successors(self, number: int) -> tuple[int, ...]:
        """Return the states to which tokens lead."""
        if number not in self._successors:
            self.steps(number)
        return self._successors[number]

    def cost(self, number: int) -> WalkCost:
        """Return the cost of walking all tokens of a state, which does not depend on earlier walks."""
        if number not in self._costs:
            self.steps(number)
        return self._costs[number]

    def steps(self, number: int) -> Steps:
        """Return the allowed tokens of a state, and the states to which they lead."""
        return self._walks.get(number, lambda: self._complete_walk(number))

    def some_steps(self, number: int, is_useful: Callable[[Ints, Ints], NDArray[np.bool_]]) -> tuple[Steps, int]:
        """Return those of `steps` that a search can use, and the number of nodes of the trie that were visited.

        Args:
            number: the state.
            is_useful: given the states after some nodes, int32[n], and by how many bytes tokens go on from there at
                most, int32[n], returns for each whether to follow those tokens.
        """
        steps, cost = self._walk(number, is_useful)
        return steps, cost.nodes

    # ------------------------------------------------------------------ the walk

    def _complete_walk(self, number: int) -> Steps:
        steps, self._costs[number] = self._walk(number)
        self._successors[number] = steps.targets
        return steps

    def _walk(
        self, number: int, is_useful: Callable[[Ints, Ints], NDArray[np.bool_]] | None = None
    ) -> tuple[Steps, WalkCost]:
        trie, (start, children) = self._trie, self._children
        nodes = np.flatnonzero(trie.depth == 1)
        states = np.full(nodes.shape[0], number, dtype=np.int32)
        ends: list[NDArray[np.int64]] = []
        afters: list[Ints] = []
        met: list[Ints] = [np.array([number], dtype=np.int32)]
        visited = 0
        while nodes.shape[0]:
            check_cancelled()
            visited += nodes.shape[0]
            after = self._next_states(states, trie.byte[nodes])
            alive = after >= 0
            nodes, after = nodes[alive], after[alive]
            if is_useful is not None:
                useful = is_useful(after, self._heights[nodes])
                nodes, after = nodes[useful], after[useful]
            met.append(after)
            ending = trie.token_start[nodes + 1] > trie.token_start[nodes]
            ends.append(nodes[ending])
            afters.append(after[ending])
            counts = start[nodes + 1] - start[nodes]
            states = np.repeat(after, counts)
            nodes = children[_ranges(start[nodes], counts)]
        ended = np.concatenate(ends) if ends else np.empty(0, dtype=np.int64)
        counts = trie.token_start[ended + 1] - trie.token_start[ended]
        tokens = trie.token_ids[_ranges(trie.token_start[ended], counts)]
        after = np.repeat(np.concatenate(afters) if afters else np.empty(0, dtype=np.int32), counts)
        if self._sets is not None:
            tokens, after = self._add_token_elements(number, tokens, after)
        return Steps(tokens, after, _distinct(after)), WalkCost(visited, _distinct(np.concatenate(met)))

    def _next_states(self, states: Ints, byte: NDArray[np.uint8]) -> Ints:
        """Return the state after a byte for each pair of state and byte, filling missing entries of the table."""
        classes = self._automaton.class_of_byte[byte]
        after = self._rows[states, classes]
        missing = after == _UNKNOWN
        if missing.any():
            pairs = states[missing].astype(np.int64) * 256 + classes[missing]
            for pair, first in zip(*np.unique(pairs, return_index=True), strict=True):
                self._fill(int(pair) >> 8, int(byte[missing][first]))
            after = self._rows[states, classes]
        return np.asarray(after, dtype=np.int32)

    def _fill(self, number: int, byte: int) -> None:
        if self._most_advances is not None and self._advances >= self._most_advances:
            raise LimitExceededError(
                "errors.limit.completion_work", given=self._advances + 1, limit=self._most_advances
            )
        self._advances += 1
        checkpoint()
        cursor = self._automaton.advance(self._cursors[number], byte)
        after = _NOWHERE if cursor is None else self._number(cursor, (number, byte))
        self._rows[number, self._automaton.class_of_byte[byte]] = after

    def _number(self, cursor: Any, origin: tuple[int, int]) -> int:
        number = self._numbers.get(cursor)
        if number is None:
            number = self._numbers[cursor] = len(self._cursors)
            self._cursors.append(cursor)
            self._reached_from.append(origin)
            if number == len(self._rows):
                self._rows = np.concatenate((self._rows, np.full_like(self._rows, _UNKNOWN)))
        return number

    def _add_token_elements(self, number: int, tokens: Ints, after: Ints) -> tuple[Ints, Ints]:
        """Add the token elements that are allowed; with these, a cursor is a configuration."""
        assert self._sets is not None
        cursor = self._cursors[number]
        elements: dict[int, int] = {}
        for token_id in self._sets.ids(self._automaton.token_sets(cursor)):
            taken = self._automaton.take_token(cursor, self._tokens[token_id] or b"", self._sets.holding(token_id))
            if taken != DEAD:
                elements[token_id] = self.cursor(taken)
        if not elements:
            return tokens, after
        ids = np.fromiter(elements.keys(), np.int32, len(elements))
        is_bytes = ~np.isin(tokens, ids)
        reached = np.fromiter(elements.values(), np.int32, len(elements))
        return np.concatenate((tokens[is_bytes], ids)), np.concatenate((after[is_bytes], reached))


_children_by_trie: WeakKeyDictionary[Trie, tuple[NDArray[np.int64], NDArray[np.int64]]] = WeakKeyDictionary()


def _children_of(trie: Trie) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `start`, int64[N + 1], and `children`: those of node n are `children[start[n] : start[n + 1]]`."""
    known = _children_by_trie.get(trie)
    if known is None:
        size = len(trie.byte)
        parents = np.full(size, -1, dtype=np.int64)
        order = np.argsort(trie.depth, kind="stable")
        levels = np.split(order, np.cumsum(np.bincount(trie.depth, minlength=1))[:-1])
        for parents_level, level in pairwise(levels[1:]):  # the root is not a node
            parents[level] = parents_level[np.searchsorted(parents_level, level) - 1]
        by_parent = np.argsort(parents, kind="stable")
        children = by_parent[np.count_nonzero(parents < 0) :]
        start = np.concatenate(([0], np.cumsum(np.bincount(parents[children], minlength=size))))
        known = _children_by_trie[trie] = start.astype(np.int64), children
    return known


def _distinct(numbers: Ints) -> tuple[int, ...]:
    """Return the distinct numbers, in ascending order."""
    return tuple(np.flatnonzero(np.bincount(numbers, minlength=1)).tolist())


def _ranges(first: NDArray[np.integer[Any]], counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Concatenate the integers of several ranges, given their first numbers and their lengths."""
    offsets = np.cumsum(counts, dtype=np.int64) - counts
    return np.repeat(first - offsets, counts) + np.arange(int(counts.sum()), dtype=np.int64)
