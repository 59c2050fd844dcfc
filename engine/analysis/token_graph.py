"""Where every token of a vocabulary leads from a place of a grammar, as arrays.

A walk of the byte trie, level by level: all nodes of a depth at once, and a table
of which place a byte leads to from which, filled as entries are first met. A wide
place has a hundred thousand tokens and leads to a dozen places, so Python is asked
for a few hundred bytes and numpy does the rest.

`engine.analysis.token_successors` finds the places alone, one node after the other, and
is the twin that tests hold this against.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.masking.token_sets import TokenSets
from engine.vocabulary import Trie, Vocabulary

_UNKNOWN, _NOWHERE = -2, -1
_WALKS_KEPT = 32

Ints = NDArray[np.int32]


class Steps(NamedTuple):
    """The tokens that may come at a place.

    Attributes:
        tokens: int32[n], their ids, in no order.
        after: int32[n], the number of the place that each leads to.
        places: the numbers that stand in `after`, once each.
    """

    tokens: Ints
    after: Ints
    places: tuple[int, ...]


class WalkCost(NamedTuple):
    """The work of a walk over the trie.

    Attributes:
        nodes: how many nodes of the trie are visited.
        met: the places that bytes of tokens lead through, the first one included.
    """

    nodes: int
    met: tuple[int, ...]


class TokenGraph:
    """The places of one grammar over one vocabulary, numbered as they are met.

    The numbers are good until `forget`, which the automaton may force: see `generation`.
    """

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary) -> None:
        self._automaton, self._tokens = automaton, vocabulary.tokens
        self._trie = vocabulary.trie
        self._children = _children_of(vocabulary.trie)
        self._bytes_of_class = [np.flatnonzero(automaton.class_of_byte == c) for c in range(automaton.n_classes)]
        self._sets = TokenSets(vocabulary, automaton.token_elements) if automaton.token_elements else None
        self.evict_states()

    def evict_states(self) -> None:
        """Drop all places."""
        self.generation = self._automaton.generation
        self._places: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._came: list[tuple[int, int]] = []  # from which place, by which byte; or -1 and a configuration
        self._rows: Ints = np.full((64, 256), _UNKNOWN, dtype=np.int32)
        self._walks: OrderedDict[int, Steps] = OrderedDict()
        self._following: dict[int, tuple[int, ...]] = {}
        self._costs: dict[int, WalkCost] = {}

    def __len__(self) -> int:
        return len(self._places)

    def cursor(self, configuration: int) -> int:
        """The number of a configuration's place."""
        return self._number(self._automaton.cursor(configuration), (-1, configuration))

    def place(self, number: int) -> Any:
        """A place, as `ByteAutomaton.follow` takes it."""
        return self._places[number]

    def configuration(self, number: int) -> int:
        """A configuration at a place; it is interned, and may make the automaton forget."""
        read = bytearray()
        source, how = self._came[number]
        while source >= 0:
            read.append(how)
            source, how = self._came[source]
        return self._automaton.run(how, bytes(reversed(read))) if read else how

    def advance(self, number: int, byte: int) -> int | None:
        """The place after a byte; None where it cannot come."""
        after = int(self._rows[number, byte])
        if after == _UNKNOWN:
            self._fill(number, byte)
            after = int(self._rows[number, byte])
        return None if after == _NOWHERE else after

    def following(self, number: int) -> tuple[int, ...]:
        """The places that tokens lead to."""
        if number not in self._following:
            self.steps(number)
        return self._following[number]

    def cost(self, number: int) -> WalkCost:
        """Return what a walk of all tokens from a place costs; the same for every order of questions."""
        if number not in self._costs:
            self.steps(number)
        return self._costs[number]

    def steps(self, number: int) -> Steps:
        """The tokens that may come at a place, and where they lead."""
        steps = self._walks.get(number)
        if steps is None:
            steps = self._walk(number)
            self._following[number] = steps.places
            self._walks[number] = steps
            if len(self._walks) > _WALKS_KEPT:
                self._walks.popitem(last=False)
        else:
            self._walks.move_to_end(number)
        return steps

    # ------------------------------------------------------------------ the walk

    def _walk(self, number: int) -> Steps:
        trie, (start, children) = self._trie, self._children
        nodes = np.flatnonzero(trie.depth == 1)
        at = np.full(nodes.shape[0], number, dtype=np.int32)
        ends: list[NDArray[np.int64]] = []
        afters: list[Ints] = []
        met: list[Ints] = [np.array([number], dtype=np.int32)]
        visited = 0
        while nodes.shape[0]:
            visited += nodes.shape[0]
            after = self._after(at, trie.byte[nodes])
            alive = after >= 0
            nodes, after = nodes[alive], after[alive]
            met.append(after)
            ending = trie.token_start[nodes + 1] > trie.token_start[nodes]
            ends.append(nodes[ending])
            afters.append(after[ending])
            counts = start[nodes + 1] - start[nodes]
            at = np.repeat(after, counts)
            nodes = children[_ranges(start[nodes], counts)]
        ended = np.concatenate(ends) if ends else np.empty(0, dtype=np.int64)
        counts = trie.token_start[ended + 1] - trie.token_start[ended]
        tokens = trie.token_ids[_ranges(trie.token_start[ended], counts)]
        after = np.repeat(np.concatenate(afters) if afters else np.empty(0, dtype=np.int32), counts)
        if self._sets is not None:
            tokens, after = self._with_whole(number, tokens, after)
        self._costs[number] = WalkCost(visited, tuple(np.unique(np.concatenate(met)).tolist()))
        found = np.flatnonzero(np.bincount(after, minlength=1))
        return Steps(tokens, after, tuple(found.tolist()))

    def _after(self, at: Ints, byte: NDArray[np.uint8]) -> Ints:
        """The place after a byte for each pair; entries of the table that are missing are filled in."""
        after = self._rows[at, byte]
        missing = after == _UNKNOWN
        if missing.any():
            for pair in np.unique(at[missing].astype(np.int64) * 256 + byte[missing]).tolist():
                if self._rows[pair >> 8, pair & 255] == _UNKNOWN:
                    self._fill(pair >> 8, pair & 255)
            after = self._rows[at, byte]
        return np.asarray(after, dtype=np.int32)

    def _fill(self, number: int, byte: int) -> None:
        place = self._automaton.advance(self._places[number], byte)
        after = _NOWHERE if place is None else self._number(place, (number, byte))
        self._rows[number, self._bytes_of_class[self._automaton.class_of_byte[byte]]] = after

    def _number(self, place: Any, came: tuple[int, int]) -> int:
        number = self._numbers.get(place)
        if number is None:
            number = self._numbers[place] = len(self._places)
            self._places.append(place)
            self._came.append(came)
            if number == len(self._rows):
                self._rows = np.concatenate((self._rows, np.full_like(self._rows, _UNKNOWN)))
        return number

    def _with_whole(self, number: int, tokens: Ints, after: Ints) -> tuple[Ints, Ints]:
        """Tokens that the grammar names, taken whole; without frames, a place is its configuration."""
        assert self._sets is not None
        place = self._places[number]
        whole: dict[int, int] = {}
        for token_id in self._sets.ids(self._automaton.token_sets(place)):
            taken = self._automaton.take_token(place, self._tokens[token_id] or b"", self._sets.holding(token_id))
            if taken != DEAD:
                whole[token_id] = self.cursor(taken)
        if not whole:
            return tokens, after
        ids = np.fromiter(whole.keys(), np.int32, len(whole))
        spelled = ~np.isin(tokens, ids)
        reached = np.fromiter(whole.values(), np.int32, len(whole))
        return np.concatenate((tokens[spelled], ids)), np.concatenate((after[spelled], reached))


_known: WeakKeyDictionary[Trie, tuple[NDArray[np.int64], NDArray[np.int64]]] = WeakKeyDictionary()


def _children_of(trie: Trie) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """int64[N + 1] and int64[·]: the children of node n are `children[start[n] : start[n + 1]]`."""
    known = _known.get(trie)
    if known is None:
        size = len(trie.byte)
        parents = np.full(size, -1, dtype=np.int64)
        order = np.argsort(trie.depth, kind="stable")
        levels = np.split(order, np.cumsum(np.bincount(trie.depth, minlength=1))[:-1])
        for above, level in pairwise(levels[1:]):  # the root is no node
            parents[level] = above[np.searchsorted(above, level) - 1]
        below = np.argsort(parents, kind="stable")
        children = below[np.count_nonzero(parents < 0) :]
        start = np.concatenate(([0], np.cumsum(np.bincount(parents[children], minlength=size))))
        known = _known[trie] = start.astype(np.int64), children
    return known


def _ranges(first: NDArray[np.integer[Any]], counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The numbers of all ranges, one after the other."""
    offsets = np.cumsum(counts, dtype=np.int64) - counts
    return np.repeat(first - offsets, counts) + np.arange(int(counts.sum()), dtype=np.int64)
