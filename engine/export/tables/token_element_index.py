"""The token index of a regular grammar with tokens matched by id, such as `<think>`.

A token element is no string of bytes, so a byte automaton has no edge for it. But the configurations are finite: they
are what bytes and tokens reach, and a token leads where its bytes do, where its element does, or to both at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import join_ranges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.compile import CompiledGrammar
from engine.export.tables.token_index import MOST_TRANSITIONS, SpelledTokens, TokenIndex, too_many
from engine.export.target import NotExportableError
from engine.masking.token_sets import TokenSets
from engine.source import CancelToken, LimitExceededError
from engine.vocabulary import Vocabulary
from engine.vocabulary.errors import VocabularyError


def whole_token_index(
    grammar: CompiledGrammar,
    vocabulary: Vocabulary,
    most_states: int,
    *,
    most_transitions: int = MOST_TRANSITIONS,
    cancel: CancelToken,
) -> TokenIndex:
    """Build the index over the automaton's own configurations, which may be more than the minimum.

    Args:
        grammar: the grammar.
        vocabulary: the vocabulary.
        most_states: the largest number of configurations.
        most_transitions: the largest number of transitions.
        cancel: cancels the work.

    Raises:
        NotExportableError: the vocabulary lacks a token that the grammar names.
        LimitExceededError: it has more than `most_states` configurations or `most_transitions` transitions.
        CancelledError: it was cancelled.
    """
    automaton = grammar.automaton
    assert isinstance(automaton, LazyAutomaton)
    try:
        sets = TokenSets(vocabulary, automaton.token_elements)
    except VocabularyError as error:
        raise NotExportableError(str(error)) from error
    found = _Configurations(automaton, vocabulary, sets, most_states, cancel)
    table, spelled = found.table(), SpelledTokens(vocabulary)
    tokens: list[NDArray[np.int32]] = []
    targets: list[NDArray[np.int32]] = []
    total = 0
    for state, taken in enumerate(found.taken):
        cancel.report("token index", state, len(found.taken))
        row = np.full(vocabulary.size, -1, np.int32)
        ids, reached = spelled.run(table, state)
        row[ids] = reached
        row[list(taken)] = list(taken.values())
        tokens.append(np.flatnonzero(row >= 0).astype(np.int32))
        targets.append(row[tokens[-1]])
        total += tokens[-1].shape[0]
        if total > most_transitions:
            raise too_many(total, most_transitions)
    return TokenIndex(found.dfa(), tuple(tokens), tuple(targets))


class _Configurations:
    """The configurations that bytes and tokens reach.

    Attributes:
        taken: for each, by its number, the targets of the tokens matched by id.
    """

    def __init__(
        self, automaton: LazyAutomaton, vocabulary: Vocabulary, sets: TokenSets, most: int, cancel: CancelToken
    ) -> None:
        self._automaton, self._tokens, self._sets = automaton, vocabulary.tokens, sets
        self._numbers: dict[int, int] = {}
        self._order: list[int] = []
        self._rows: list[list[int]] = []
        self.taken: list[dict[int, int]] = []
        if automaton.start != DEAD:
            self._number(automaton.start)
        for configuration in self._order:
            cancel.report("configurations", len(self._rows), len(self._order))
            if len(self._order) > most:
                raise LimitExceededError("configurations", given=len(self._order), limit=most)
            following = [self._number(one) for one in automaton.row(configuration)]
            self._rows.append([following[byte_class] for byte_class in automaton.classes.of_byte])
            self.taken.append(self._taken(configuration))

    def _number(self, configuration: int) -> int:
        if configuration == DEAD:
            return -1
        if configuration not in self._numbers:
            self._numbers[configuration] = len(self._order)
            self._order.append(configuration)
        return self._numbers[configuration]

    def _taken(self, configuration: int) -> dict[int, int]:
        """Return the targets of tokens matched by id.

        Tokens in the same sets and with the same target by bytes are grouped.
        """
        elements = self._automaton.token_sets(configuration)
        known: dict[tuple[tuple[bool, ...], int], int] = {}
        found: dict[int, int] = {}
        for token_id in sorted(self._sets.ids(elements)):
            token, takes = self._tokens[token_id] or b"", self._sets.holding(token_id)
            spelled = self._automaton.run(configuration, token) if token else DEAD
            key = tuple(map(takes, elements)), spelled
            if key not in known:
                known[key] = self._number(self._automaton.take_token(configuration, token, takes))
            found[token_id] = known[key]
        return found

    def table(self) -> NDArray[np.int32]:
        """Return int32[states, 256], -1 where a byte is refused."""
        return np.array(self._rows, np.int32).reshape(-1, 256)

    def dfa(self) -> ByteDfa:
        """Return the part of it that reads bytes."""
        states = tuple(
            DfaState(number, self._automaton.accepts(configuration)) for number, configuration in enumerate(self._order)
        )
        edges: list[DfaEdge] = []
        for source, row in enumerate(self._rows):
            leading: dict[int, list[int]] = {}
            for byte, target in enumerate(row):
                if target >= 0:
                    leading.setdefault(target, []).append(byte)
            for target, read in sorted(leading.items()):
                edges.append(DfaEdge(source, target, join_ranges(((byte, byte),) for byte in read)))
        return ByteDfa(0 if states else None, states, tuple(edges))
