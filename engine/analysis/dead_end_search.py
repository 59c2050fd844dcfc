"""Search for dead ends: states from which no tokens of a vocabulary lead to a match.

Some bytes complete every configuration of an automaton. If the vocabulary lacks
them, the configuration is a dead end; if tokens may follow but none of them ever
leads to a match, it is a trap. The search finds forwards the states that tokens
reach, and backwards those that reach a match.

If every byte of the vocabulary is a token by itself and the grammar needs no other
bytes, there is nothing to search: any text can be written byte by byte.
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

MAX_STATES = 20_000


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """A state that tokens reach, and from which no tokens lead to a match.

    Attributes:
        token_ids: a shortest sequence of tokens that reaches it.
        text: their bytes.
        is_trap: whether tokens are allowed there, although none of them leads to a match.
        expected: the inclusive byte ranges that the grammar allows there.
        spans: the positions in the source.
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
        found: proven dead ends, nearest to the start first.
        n_explored: the number of states that were explored.
        is_complete: whether there are no others.
    """

    found: tuple[DeadEnd, ...]
    n_explored: int
    is_complete: bool


def dead_ends(
    grammar: CompiledGrammar,
    vocabulary: Vocabulary,
    *,
    limit: int = MAX_STATES,
    effort: int | None = None,
    cancel: CancelToken | None = None,
) -> DeadEnds:
    """Search for states that tokens reach, and from which no tokens lead to a match.

    Args:
        grammar: the grammar.
        vocabulary: the vocabulary.
        limit: the largest number of states to explore.
        effort: the largest number of nodes of the byte trie to visit, for all states together; None for no limit.
        cancel: checked at every state; receives the progress.

    Raises:
        TypeError: `grammar` or `vocabulary` has the wrong type.
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
        self._cursors: list[Any] = [grammar.automaton.cursor(grammar.automaton.start)]
        self._index: dict[Any, int] = {self._cursors[0]: 0}
        self._reached_from: list[tuple[int, int]] = [(-1, -1)]  # the predecessor and the token that leads from it
        self._successors: list[list[int]] = []

    def run(self, limit: int, effort: int | None) -> DeadEnds:
        steps = self._steps
        while len(self._successors) < min(len(self._cursors), limit) and (effort is None or steps.n_visited <= effort):
            if self._cancel is not None:
                self._cancel.report("progress.dead_ends", len(self._successors))
            try:
                self._expand(len(self._successors))
            except LimitExceededError:
                break
        n_expanded = len(self._successors)
        productive = self._states_with_match()
        dead = [state for state in range(n_expanded) if state not in productive]
        return DeadEnds(
            tuple(self._dead_end(state) for state in dead), n_expanded, is_complete=n_expanded == len(self._cursors)
        )

    def _expand(self, state: int) -> None:
        row: list[int] = []
        for after, token_id in self._steps.successors(self._cursors[state]).items():
            index = self._index.get(after)
            if index is None:
                index = self._index[after] = len(self._cursors)
                self._cursors.append(after)
                self._reached_from.append((state, token_id))
            row.append(index)
        self._successors.append(row)

    def _states_with_match(self) -> set[int]:
        """Return the states from which tokens lead to a match, or to a state that was not explored."""
        remaining = self._grammar.automaton.min_remaining
        sources: list[list[int]] = [[] for _ in self._cursors]
        for state, row in enumerate(self._successors):
            for after in row:
                sources[after].append(state)
        n_expanded = len(self._successors)
        ends = [i for i, cursor in enumerate(self._cursors) if i >= n_expanded or remaining(cursor).at_least == 0]
        productive = set(ends)
        while ends:
            for source in sources[ends.pop()]:
                if source not in productive:
                    productive.add(source)
                    ends.append(source)
        return productive

    def _dead_end(self, state: int) -> DeadEnd:
        ids: list[int] = []
        at = state
        while at > 0:
            at, token_id = self._reached_from[at]
            ids.append(token_id)
        ids.reverse()
        automaton = self._grammar.automaton
        text = b"".join(self._vocabulary.tokens[token_id] or b"" for token_id in ids)
        # With token elements, a cursor is a configuration: bytes alone may not lead to it.
        cursor = self._cursors[state] if automaton.token_elements else automaton.run(automaton.start, text)
        assert cursor != DEAD
        return DeadEnd(
            tuple(ids), text, bool(self._successors[state]), tuple(automaton.expected(cursor)), automaton.spans(cursor)
        )
