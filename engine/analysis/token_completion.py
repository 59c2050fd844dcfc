"""Search for the fewest tokens that complete a match.

A* over the states that tokens reach (Hart, Nilsson and Raphael, 1968). The number
of missing bytes divided by the length of the longest token is a lower bound. The
shortest completion in bytes, split into the fewest tokens, is the first solution;
the search stops as soon as no better one is possible.

A state that can be completed in bytes may still be a dead end if no tokens of the
vocabulary have these bytes. Then the search exhausts all states and says so.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

from engine.analysis.token_successors import TokenSuccessors
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.source import CancelToken, LimitExceededError
from engine.vocabulary import Vocabulary

_MAX_BYTE_STEPS = 2_000
_CHECK_EVERY = 1_024


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
        effort: the number of nodes of the byte trie that may be visited; beyond it the result is a bound.
        cancel: checked regularly.

    Raises:
        CancelledError: `cancel` was used.
    """
    if configuration == DEAD:
        return TokenCompletion(None)
    return _Search(automaton, vocabulary, cancel).run(automaton.cursor(configuration), configuration, effort)


class _Search:
    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary, cancel: CancelToken | None) -> None:
        self._automaton = automaton
        self._steps = TokenSuccessors(automaton, vocabulary)
        self._cancel = cancel
        self._missing_bytes: dict[Any, int | None] = {}
        self._best: int | None = None
        self._n_checked = 0
        self._reached_from: dict[Any, tuple[int, Any, int]] = {}  # number of tokens, predecessor, last token

    def run(self, start: Any, configuration: int, effort: int) -> TokenCompletion:
        alphabet = self._steps.alphabet
        shortest = self._automaton.shortest_completion(configuration, _MAX_BYTE_STEPS, self._cancel, alphabet)
        if shortest.is_impossible and not self._automaton.token_elements:
            return TokenCompletion(None)
        tokens = None if shortest.text is None else self._steps.fewest_tokens(shortest.text)
        self._best = None if tokens is None else len(tokens)
        self._reached_from[start] = 0, None, 0
        frontier: list[tuple[int, int, int, Any]] = [(self._lower_bound(start, 0) or 0, 0, 0, start)]
        while frontier:
            bound, negated, _, state = heapq.heappop(frontier)
            if self._best is not None and bound >= self._best:
                break
            if -negated > self._reached_from[state][0]:
                continue  # a shorter path to this state was found later
            if self._bytes_missing(state) == 0:
                return TokenCompletion(bound, bound, self._read_back(state))
            if self._cancel is not None:
                self._cancel.report("progress.ending", len(self._reached_from))
            try:
                self._expand(state, frontier)
                exhausted = self._steps.n_visited > effort
            except LimitExceededError:
                exhausted = True
            if exhausted:
                return TokenCompletion(bound, self._best, tokens)
        return TokenCompletion(self._best, self._best, tokens)

    def _expand(self, state: Any, frontier: list[tuple[int, int, int, Any]]) -> None:
        taken = self._reached_from[state][0] + 1

        def is_useful(after: Any, extra_bytes: int) -> bool:
            self._n_checked += 1
            if self._cancel is not None and self._n_checked % _CHECK_EVERY == 0:
                self._cancel.check()  # a state with many tokens takes so long that a user would wait for the stop
            bound = self._lower_bound(after, extra_bytes)
            return bound is not None and (self._best is None or taken + bound < self._best)

        for after, token_id in self._steps.successors(state, is_useful).items():
            bound = self._lower_bound(after, 0)
            known = self._reached_from.get(after)
            if bound is not None and (known is None or taken < known[0]):
                self._reached_from[after] = taken, state, token_id
                heapq.heappush(frontier, (taken + bound, -taken, len(self._reached_from), after))

    def _lower_bound(self, state: Any, extra_bytes: int) -> int | None:
        """Return a lower bound of the tokens to a match after `extra_bytes` more bytes; None if there is no match."""
        missing = self._bytes_missing(state)
        if self._automaton.token_elements:
            return 0 if extra_bytes or missing == 0 else 1  # a single token element may complete the match
        if missing is None:
            return None
        return -(-max(0, missing - extra_bytes) // self._steps.longest)

    def _bytes_missing(self, state: Any) -> int | None:
        if state not in self._missing_bytes:
            self._missing_bytes[state] = self._automaton.min_remaining(state, self._steps.alphabet).at_least
        return self._missing_bytes[state]

    def _read_back(self, state: Any) -> tuple[int, ...]:
        ids: list[int] = []
        while self._reached_from[state][0]:
            _, state, token_id = self._reached_from[state]
            ids.append(token_id)
        return tuple(reversed(ids))
