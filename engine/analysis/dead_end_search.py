"""States that no tokens of a vocabulary lead out of.

Every configuration of an automaton can be completed by some bytes. A vocabulary
that lacks them makes a dead end of it, or a trap: tokens may follow, as many as
one likes, and none of them ever leads to a match. Forwards, the places that
tokens reach are found; backwards, those that reach a match.

Where every byte that tokens have is a token by itself, and the grammar needs no
others, nothing is searched: any text can be written byte by byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.analysis.token_successors import TokenSuccessors
from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar
from engine.source import CancelToken, LimitExceededError, Span
from engine.source.arguments import require
from engine.vocabulary import Vocabulary

MOST_PLACES = 20_000


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """A place that tokens lead to, and from which none lead to a match.

    Attributes:
        token_ids: the fewest tokens that lead there.
        text: their bytes.
        is_trap: whether tokens may still follow, though none of them leads to a match; else none may.
        expected: inclusive byte ranges that the grammar wants there.
        spans: where in the source the match stands.
    """

    token_ids: tuple[int, ...]
    text: bytes
    is_trap: bool
    expected: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class DeadEnds:
    """The dead ends of a grammar over a vocabulary.

    Attributes:
        found: dead ends for certain, nearest to the start first.
        places: how many places were looked at.
        is_complete: whether there are no others.
    """

    found: tuple[DeadEnd, ...]
    places: int
    is_complete: bool


def dead_ends(
    grammar: CompiledGrammar,
    vocabulary: Vocabulary,
    *,
    limit: int = MOST_PLACES,
    effort: int | None = None,
    cancel: CancelToken | None = None,
) -> DeadEnds:
    """Look for places that tokens lead to, and no tokens lead on from to a match.

    Args:
        grammar: what is matched.
        vocabulary: whose tokens.
        limit: how many places to look at.
        effort: how many nodes of the byte trie to look at, all places together; None for any number.
        cancel: asked at every place.

    Raises:
        TypeError: `grammar` or `vocabulary` has another type.
        CancelledError: `cancel` was used.
    """
    require("grammar", grammar, CompiledGrammar, "a CompiledGrammar")
    require("vocabulary", vocabulary, Vocabulary, "a Vocabulary")
    steps = TokenSuccessors(grammar.automaton, vocabulary)
    if grammar.is_empty or (steps.by_bytes and steps.alphabet is None):
        return DeadEnds((), 0, is_complete=True)
    return _Explorer(grammar, vocabulary, steps, cancel).run(limit, effort)


class _Explorer:
    def __init__(
        self, grammar: CompiledGrammar, vocabulary: Vocabulary, steps: TokenSuccessors, cancel: CancelToken | None
    ) -> None:
        self._grammar, self._vocabulary = grammar, vocabulary
        self._steps, self._cancel = steps, cancel
        self._places: list[Any] = [grammar.automaton.cursor(grammar.automaton.start)]
        self._index: dict[Any, int] = {self._places[0]: 0}
        self._came: list[tuple[int, int]] = [(-1, -1)]  # from where, by which token
        self._following: list[list[int]] = []

    def run(self, limit: int, effort: int | None) -> DeadEnds:
        steps = self._steps
        while len(self._following) < min(len(self._places), limit) and (effort is None or steps.walked <= effort):
            if self._cancel is not None:
                self._cancel.report("looking for dead ends", len(self._following))
            try:
                self._expand(len(self._following))
            except LimitExceededError:
                break
        looked_at = len(self._following)
        reaching = self._reaching_a_match()
        dead = [place for place in range(looked_at) if place not in reaching]
        return DeadEnds(
            tuple(self._dead_end(place) for place in dead), looked_at, is_complete=looked_at == len(self._places)
        )

    def _expand(self, place: int) -> None:
        row: list[int] = []
        for after, token_id in self._steps.following(self._places[place]).items():
            number = self._index.get(after)
            if number is None:
                number = self._index[after] = len(self._places)
                self._places.append(after)
                self._came.append((place, token_id))
            row.append(number)
        self._following.append(row)

    def _reaching_a_match(self) -> set[int]:
        """The places that tokens lead on from to a match, or to where nobody looked."""
        remaining = self._grammar.automaton.min_remaining
        sources: list[list[int]] = [[] for _ in self._places]
        for place, row in enumerate(self._following):
            for after in row:
                sources[after].append(place)
        looked_at = len(self._following)
        ends = [p for p, place in enumerate(self._places) if p >= looked_at or remaining(place).at_least == 0]
        reaching = set(ends)
        while ends:
            for source in sources[ends.pop()]:
                if source not in reaching:
                    reaching.add(source)
                    ends.append(source)
        return reaching

    def _dead_end(self, place: int) -> DeadEnd:
        ids: list[int] = []
        at = place
        while at > 0:
            at, token_id = self._came[at]
            ids.append(token_id)
        ids.reverse()
        automaton = self._grammar.automaton
        text = b"".join(self._vocabulary.tokens[token_id] or b"" for token_id in ids)
        # Where tokens are taken whole, a place is its configuration: bytes alone do not lead there.
        there = self._places[place] if automaton.token_elements else automaton.run(automaton.start, text)
        assert there != DEAD
        return DeadEnd(
            tuple(ids), text, bool(self._following[place]), tuple(automaton.expected(there)), automaton.spans(there)
        )
