"""How many tokens of a vocabulary the end of a match is away, and where no tokens lead to it.

A* over the places that tokens lead to (Hart, Nilsson and Raphael, 1968). A place
that lacks so many bytes needs at least as many tokens as the longest one fits
into them; the shortest text, spelled by as few tokens as can be, is the first
answer, and a search that can find no better one is cut short.

A place of the grammar is alive by its bytes, and may still be a dead end: no
tokens of this vocabulary spell what it wants. A search that runs dry says so.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

from engine.analysis.token_successors import TokenSuccessors
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.source import CancelToken, LimitExceededError
from engine.vocabulary import Vocabulary

_BYTES_EFFORT = 2_000
_CHECK_EVERY = 1_024


@dataclass(frozen=True, slots=True)
class TokenCompletion:
    """How far the end of a match is, in tokens; the token that says that the text is over is not counted.

    Attributes:
        at_least: no match is nearer; None where no tokens of the vocabulary lead to one.
        at_most: some match is as near; None where none was found.
        token_ids: tokens that complete the match, `at_most` of them; None where none were found.
    """

    at_least: int | None
    at_most: int | None = None
    token_ids: tuple[int, ...] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether this is the distance itself."""
        return self.at_least == self.at_most

    @property
    def is_dead_end(self) -> bool:
        """Whether no tokens of the vocabulary complete the match."""
        return self.at_least is None


def search_token_completion(
    automaton: ByteAutomaton,
    vocabulary: Vocabulary,
    configuration: int,
    effort: int,
    cancel: CancelToken | None = None,
) -> TokenCompletion:
    """The fewest tokens that complete a match from where it stands.

    Args:
        automaton: the runtime.
        vocabulary: whose tokens.
        configuration: where the match stands.
        effort: how many nodes of the byte trie may be looked at; beyond them the answer is a bound.
        cancel: asked now and then.

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
        self._lacking: dict[Any, int | None] = {}
        self._best: int | None = None
        self._looked = 0
        self._came: dict[Any, tuple[int, Any, int]] = {}  # tokens taken, from where, by which

    def run(self, start: Any, configuration: int, effort: int) -> TokenCompletion:
        alphabet = self._steps.alphabet
        nearest = self._automaton.shortest_completion(configuration, _BYTES_EFFORT, self._cancel, alphabet)
        if nearest.is_impossible and not self._automaton.token_elements:
            return TokenCompletion(None)
        spelled = None if nearest.text is None else self._steps.fewest(nearest.text)
        self._best = None if spelled is None else len(spelled)
        self._came[start] = 0, None, 0
        frontier: list[tuple[int, int, int, Any]] = [(self._at_least(start, 0) or 0, 0, 0, start)]
        while frontier:
            least, negated, _, place = heapq.heappop(frontier)
            if self._best is not None and least >= self._best:
                break
            if -negated > self._came[place][0]:
                continue  # a shorter way there was found since
            if self._lacks(place) == 0:
                return TokenCompletion(least, least, self._read_back(place))
            if self._cancel is not None:
                self._cancel.report("looking for the end", len(self._came))
            try:
                self._expand(place, frontier)
                spent = self._steps.walked > effort
            except LimitExceededError:
                spent = True
            if spent:
                return TokenCompletion(least, self._best, spelled)
        return TokenCompletion(self._best, self._best, spelled)

    def _expand(self, place: Any, frontier: list[tuple[int, int, int, Any]]) -> None:
        taken = self._came[place][0] + 1

        def is_useful(after: Any, further: int) -> bool:
            self._looked += 1
            if self._cancel is not None and self._looked % _CHECK_EVERY == 0:
                self._cancel.check()  # one wide place takes longer than somebody who waits for a step should wait
            least = self._at_least(after, further)
            return least is not None and (self._best is None or taken + least < self._best)

        for after, token_id in self._steps.following(place, is_useful).items():
            least = self._at_least(after, 0)
            known = self._came.get(after)
            if least is not None and (known is None or taken < known[0]):
                self._came[after] = taken, place, token_id
                heapq.heappush(frontier, (taken + least, -taken, len(self._came), after))

    def _at_least(self, place: Any, further: int) -> int | None:
        """How many tokens are needed at least behind so many bytes more; None where no bytes are of use."""
        lacks = self._lacks(place)
        if self._automaton.token_elements:
            return 0 if further or lacks == 0 else 1  # one token taken whole may be all that is wanted
        if lacks is None:
            return None
        return -(-max(0, lacks - further) // self._steps.longest)

    def _lacks(self, place: Any) -> int | None:
        if place not in self._lacking:
            self._lacking[place] = self._automaton.min_remaining(place, self._steps.alphabet).at_least
        return self._lacking[place]

    def _read_back(self, place: Any) -> tuple[int, ...]:
        ids: list[int] = []
        while self._came[place][0]:
            _, place, token_id = self._came[place]
            ids.append(token_id)
        return tuple(reversed(ids))
