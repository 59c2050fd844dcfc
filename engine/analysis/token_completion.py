"""Search for the fewest tokens that complete a match.

A* over the states that tokens reach (Hart, Nilsson and Raphael, 1968). The number
of missing bytes divided by the length of the longest token is a lower bound. The
shortest completion in bytes, split into the fewest tokens, is the first solution;
the search stops as soon as no better one is possible. `TokenGraph` finds the states after
a state, and counts the steps of the automaton: most nodes of the trie share one, but
where each is a step of its own, a node costs fifty times as much.

A state that can be completed in bytes may still be a dead end if no tokens of the
vocabulary have these bytes. Then the search exhausts all states and says so.
"""

from __future__ import annotations

import contextlib
import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.analysis.token_graph import TokenGraph
from engine.analysis.token_successors import TokenSuccessors
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.source import CancelToken, LimitExceededError
from engine.vocabulary import Vocabulary

_MAX_BYTE_STEPS = 2_000
_NODES_PER_ADVANCE = 8
_UNKNOWN, _NO_MATCH = -1, 2**40

Numbers = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class TokenCompletion:
    """Bounds on the length of the shortest completion in tokens; the EOS is not counted.

    Attributes:
        at_least: no completion has fewer tokens; None if no tokens of the vocabulary complete the match.
        at_most: some completion has no more tokens; None if none was found.
        token_ids: a completion of `at_most` tokens; None if none was found.
    """

    at_least: int | None
    at_most: int | None = None
    token_ids: tuple[int, ...] | None = None

    @property
    def is_exact(self) -> bool:
        """Return whether the length is known exactly."""
        return self.at_least == self.at_most

    @property
    def is_dead_end(self) -> bool:
        """Return whether no tokens of the vocabulary complete the match."""
        return self.at_least is None


def search_token_completion(
    automaton: ByteAutomaton,
    vocabulary: Vocabulary,
    configuration: int,
    effort: int,
    cancel: CancelToken | None = None,
) -> TokenCompletion:
    """Return a completion with the fewest tokens.

    Args:
        automaton: the automaton of the grammar.
        vocabulary: the vocabulary.
        configuration: the current configuration.
        effort: the number of nodes of the byte trie that may be visited; beyond it the result is a bound. An eighth as
            many steps of the automaton may be computed.
        cancel: checked regularly.

    Raises:
        CancelledError: `cancel` was used.
    """
    if configuration == DEAD:
        return TokenCompletion(None)
    with contextlib.nullcontext() if cancel is None else cancel.scope():
        return _Search(automaton, vocabulary, effort, cancel).run(configuration)


class _Search:
    def __init__(
        self, automaton: ByteAutomaton, vocabulary: Vocabulary, effort: int, cancel: CancelToken | None
    ) -> None:
        self._automaton = automaton
        self._steps = TokenSuccessors(automaton, vocabulary)
        self._graph = TokenGraph(automaton, vocabulary, effort // _NODES_PER_ADVANCE)
        self._effort, self._cancel = effort, cancel
        self._missing_bytes = np.full(64, _UNKNOWN, np.int64)  # by state: the fewest bytes of a completion
        self._most = _NO_MATCH  # no completion of as many tokens is of interest
        self._visited = 0
        self._reached_from: dict[int, tuple[int, int, int]] = {}  # number of tokens, predecessor, last token

    def run(self, configuration: int) -> TokenCompletion:
        alphabet = self._steps.alphabet
        shortest = self._automaton.shortest_completion(configuration, _MAX_BYTE_STEPS, self._cancel, alphabet)
        if shortest.is_impossible and not self._automaton.token_elements:
            return TokenCompletion(None)
        tokens = None if shortest.text is None else self._steps.fewest_tokens(shortest.text)
        best = None if tokens is None else len(tokens)
        self._most = _NO_MATCH if best is None else best
        start = self._graph.cursor(configuration)
        self._reached_from[start] = 0, start, 0
        (bound,) = self._bounds(np.array([start]), np.array([0])).tolist()
        frontier: list[tuple[int, int, int, int]] = [(bound % _NO_MATCH, 0, 0, start)]
        while frontier:
            bound, negated, _, state = heapq.heappop(frontier)
            if bound >= self._most:
                break
            if -negated > self._reached_from[state][0]:
                continue  # a shorter path to this state was found later
            if self._missing_bytes[state] == 0:
                return TokenCompletion(bound, bound, self._read_back(state))
            if self._cancel is not None:
                self._cancel.report("progress.ending", len(self._reached_from))
            try:
                self._expand(state, frontier)
            except LimitExceededError:
                return TokenCompletion(bound, best, tokens)
            if self._visited > self._effort:
                return TokenCompletion(bound, best, tokens)
        return TokenCompletion(best, best, tokens)

    def _expand(self, state: int, frontier: list[tuple[int, int, int, int]]) -> None:
        taken = self._reached_from[state][0] + 1
        steps, nodes = self._graph.some_steps(state, lambda after, more: self._bounds(after, more) + taken < self._most)
        self._visited += nodes
        reached, first = np.unique(steps.after, return_index=True)
        bounds = taken + self._bounds(reached, np.zeros_like(reached))
        rows = zip(reached.tolist(), steps.tokens[first].tolist(), bounds.tolist(), strict=True)
        for after, token_id, bound in rows:
            known = self._reached_from.get(after)
            if bound < self._most and (known is None or taken < known[0]):
                self._reached_from[after] = taken, state, token_id
                heapq.heappush(frontier, (bound, -taken, len(self._reached_from), after))

    def _bounds(self, states: Numbers, extra_bytes: Numbers) -> NDArray[np.int64]:
        """Return lower bounds of the tokens from states to a match, after some more bytes; `_NO_MATCH` for no match.

        Args:
            states: int[n], numbers of the graph.
            extra_bytes: int[n].
        """
        grown = len(self._graph) - len(self._missing_bytes)
        if grown > 0:
            more = np.full(grown + len(self._graph), _UNKNOWN, np.int64)
            self._missing_bytes = np.concatenate((self._missing_bytes, more))
        missing = self._missing_bytes[states]
        is_new = missing == _UNKNOWN
        if is_new.any():
            for state in np.unique(states[is_new]).tolist():
                cursor = self._graph.cursor_of(state)
                fewest = self._automaton.min_remaining(cursor, self._steps.alphabet).at_least
                self._missing_bytes[state] = _NO_MATCH if fewest is None else fewest
            missing = self._missing_bytes[states]
        if self._automaton.token_elements:  # a single token element may complete the match
            return np.where((extra_bytes > 0) | (missing == 0), 0, 1)
        bounds = -(-np.maximum(0, missing - extra_bytes) // self._steps.longest)
        return np.where(missing == _NO_MATCH, _NO_MATCH, bounds)

    def _read_back(self, state: int) -> tuple[int, ...]:
        ids: list[int] = []
        while self._reached_from[state][0]:
            _, state, token_id = self._reached_from[state]
            ids.append(token_id)
        return tuple(reversed(ids))
