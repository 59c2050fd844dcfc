"""The token index: state → token → next state, as JSON for any engine.

The method is Outlines' (Willard and Louf 2023): run every token from every state
of the byte automaton. All tokens run at once, one byte position after another, as array look-ups; dead tokens are
dropped on the way, and most die at the first byte.

The file, version 2:

    format, version   "turnstile-token-index", 2
    generator, notation, source, options    what wrote it, and the grammar as written
    vocabulary        {"fingerprint", "size", "eos"}: which tokenizer it belongs to
    notes             which texts of the grammar it does not hold, a sentence each; of a JSON Schema only
    start             a state; null where the language is empty
    accepting         states where the text may end, so where an EOS may come
    transitions       {state: {token id: next state}}; a token that is not there is not allowed
    automaton         the bytes behind it: [{"source", "target", "bytes": [[first, last]]}]

As arrays it is a sparse matrix by rows (CSR): the tokens of state s and where they
lead are `tokens[indptr[s] : indptr[s + 1]]` and the same of `targets`.

A token that the grammar matches by id is a transition like any other; the byte automaton has no edge for it.

Rejected: EOS as an ordinary transition. Its ids are a choice of the tokenizer's
configuration; the accepting states are a fact of the grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.automata.dfa.dfa import ByteDfa
from engine.compile import CompiledGrammar
from engine.export.provenance import provenance
from engine.export.target import ExportJob, Forecast
from engine.source import CancelToken, LimitExceededError, Limits, check_cancelled
from engine.vocabulary import Vocabulary

FORMAT = "turnstile-token-index"
VERSION = 2
MOST_STATES = Limits().table_states
MOST_TRANSITIONS = Limits().table_transitions
_SAMPLED = 48
"""The number of states that a forecast samples: a fraction of a second for any vocabulary."""
_GOLDEN = (5**0.5 - 1) / 2
"""The fractional parts of its multiples are evenly distributed."""

RowSize = Callable[[NDArray[np.int32], NDArray[np.int32]], int]
"""Returns the bytes of a state's row in a file: of its token ids and of their target states."""

RowOf = Callable[[int], tuple[NDArray[np.int32], NDArray[np.int32]]]
"""Returns the token ids of a state and their target states."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenIndex:
    """The transitions of a token automaton.

    Attributes:
        dfa: the minimal byte automaton with these states.
        tokens: for each state, the allowed ids, int32, ascending; EOS is not among them.
        targets: for each state, the next states of those, int32.
    """

    dfa: ByteDfa
    tokens: tuple[NDArray[np.int32], ...]
    targets: tuple[NDArray[np.int32], ...]

    @property
    def indptr(self) -> NDArray[np.int64]:
        """The start of each state's transitions in a list of all, int64[S + 1]."""
        return np.concatenate(([0], np.cumsum([row.shape[0] for row in self.tokens], dtype=np.int64))).astype(np.int64)

    def step(self, state: int, token_id: int) -> int | None:
        """Return the state after a token; None if it is not allowed."""
        at = int(np.searchsorted(self.tokens[state], token_id))
        if at < self.tokens[state].shape[0] and self.tokens[state][at] == token_id:
            return int(self.targets[state][at])
        return None


def build_token_index(
    grammar: CompiledGrammar,
    vocabulary: Vocabulary,
    *,
    most_states: int = MOST_STATES,
    most_transitions: int = MOST_TRANSITIONS,
    cancel: CancelToken | None = None,
) -> TokenIndex:
    """Run every token from every state.

    Args:
        grammar: the grammar.
        vocabulary: the vocabulary.
        most_states: the largest number of states.
        most_transitions: the largest number of transitions.
        cancel: cancels the work.

    Raises:
        LimitExceededError: the automaton has more than `most_states` states, or the index more transitions.
        CancelledError: it was cancelled.
    """
    dfa = grammar.materialise(most_states, cancel=cancel)
    return index_of(dfa, vocabulary, most_transitions=most_transitions, cancel=cancel)


def index_of(
    dfa: ByteDfa,
    vocabulary: Vocabulary,
    *,
    most_transitions: int = MOST_TRANSITIONS,
    cancel: CancelToken | None = None,
) -> TokenIndex:
    """Build the index of a given automaton.

    Args:
        dfa: the automaton.
        vocabulary: the vocabulary.
        most_transitions: the largest number of transitions.
        cancel: cancels the work.

    Raises:
        LimitExceededError: the index has more transitions.
        CancelledError: it was cancelled.
    """
    table, spelling = _table(dfa), SpelledTokens(vocabulary)
    nothing = np.zeros(0, np.int32)
    tokens, targets, total = [nothing] * len(dfa.states), [nothing] * len(dfa.states), 0
    # The states with the most tokens first: if there are too many, the error comes early.
    for done, state in enumerate(heaviest_first(table, spelling).tolist()):
        if cancel is not None:
            cancel.report("progress.token_index", done, len(dfa.states))
        ids, reached = spelling.run(table, state)
        total += ids.shape[0]
        if total > most_transitions:
            raise too_many(total, most_transitions)
        tokens[state], targets[state] = ids, reached
    return TokenIndex(dfa, tuple(tokens), tuple(targets))


def too_many(transitions: int, limit: int) -> LimitExceededError:
    """Return the error of an index that is too large."""
    return LimitExceededError(
        "errors.limit.index_transitions", given=transitions, limit=limit, name="table_transitions"
    )


def forecast_of(dfa: ByteDfa, vocabulary: Vocabulary, limit: int, row_size: RowSize) -> Forecast:
    """Estimate how many transitions an index will have, and how many bytes they take in a file.

    States are ordered by how many tokens may begin there, which is cheap to compute, and every n-th is run completely.
    The order is fixed, so the same grammar and vocabulary have the same forecast.

    Args:
        dfa: the automaton.
        vocabulary: the vocabulary.
        limit: the largest number of transitions, for the forecast.
        row_size: returns the bytes of a row.
    """
    table, spelling = _table(dfa), SpelledTokens(vocabulary)
    order = heaviest_first(table, spelling)
    return forecast_of_rows(lambda state: spelling.run(table, state), order, limit, row_size)


def forecast_of_rows(row: RowOf, order: NDArray[np.int64], limit: int, row_size: RowSize) -> Forecast:
    """Estimate the number and size of all rows from some of them; see `forecast_of`.

    Args:
        row: returns the transitions of a state.
        order: all states, the heaviest first.
        limit: the largest number of transitions, for the forecast.
        row_size: returns the bytes of a row.
    """
    # One state of each part of the order, at a different position in each: the first state of a part is its heaviest,
    # and states at equal distances may be alike.
    bounds = np.linspace(0, len(order), min(_SAMPLED, len(order)) + 1).astype(np.int64)
    shift = np.arange(len(bounds) - 1) * _GOLDEN % 1
    chosen = order[bounds[:-1] + (shift * np.diff(bounds)).astype(np.int64)]
    transitions = size = 0
    for state in chosen:
        check_cancelled()
        ids, reached = row(int(state))
        transitions += ids.shape[0]
        size += row_size(ids, reached)
    scale = len(order) / max(1, len(chosen))
    return Forecast(round(transitions * scale), limit, round(size * scale))


def heaviest_first(table: NDArray[np.int32], spelling: SpelledTokens) -> NDArray[np.int64]:
    """Return the states by the number of tokens that begin with a byte that they read, the largest first."""
    return np.argsort(-((table >= 0) @ spelling.by_first_byte), kind="stable")


def index_document(
    index: TokenIndex, job: ExportJob, notes: tuple[str, ...] = (), options: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the file as data.

    Args:
        index: the index.
        job: the export job.
        notes: which texts of the grammar it lacks.
        options: the names of the export options that were used.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        **provenance(job, *options),
        "notes": list(notes),
        "start": index.dfa.start,
        "accepting": [state.id for state in index.dfa.states if state.accepting],
        "transitions": {
            str(state): _row_of(ids, targets)
            for state, (ids, targets) in enumerate(zip(index.tokens, index.targets, strict=True))
        },
        "automaton": [
            {"source": edge.source, "target": edge.target, "bytes": [list(pair) for pair in edge.ranges]}
            for edge in index.dfa.edges
        ],
    }


def _row_of(ids: NDArray[np.int32], targets: NDArray[np.int32]) -> dict[str, int]:
    """Return the transitions of a state as they are in a file; there may be millions in all."""
    check_cancelled()
    return {str(i): target for i, target in zip(ids.tolist(), targets.tolist(), strict=True)}


def _table(dfa: ByteDfa) -> NDArray[np.int32]:
    """Return int32[states, 256], -1 where a byte is refused."""
    table = np.full((len(dfa.states), 256), -1, dtype=np.int32)
    for edge in dfa.edges:
        for first, last in edge.ranges:
            table[edge.source, first : last + 1] = edge.target
    return table


class SpelledTokens:
    """The concatenated bytes of all tokens that have some."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        spelled = [(i, token) for i, token in enumerate(vocabulary.tokens) if token]
        self._ids = np.array([i for i, _ in spelled], dtype=np.int32)
        self._lengths = _lengths([token for _, token in spelled])
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._bytes = np.frombuffer(b"".join(token for _, token in spelled), dtype=np.uint8)
        self.by_first_byte = np.bincount(self._bytes[self._starts], minlength=256).astype(np.int64)

    def run(self, table: NDArray[np.int32], state: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the ids that survive from a state, ascending, and their final states."""
        reached = np.full(self._ids.shape[0], state, dtype=np.int32)
        alive = np.arange(self._ids.shape[0])
        done = [alive[:0]]
        position = 0
        while alive.shape[0]:
            reached[alive] = table[reached[alive], self._bytes[self._starts[alive] + position]]
            alive = alive[reached[alive] >= 0]
            position += 1
            done.append(alive[self._lengths[alive] == position])
            alive = alive[self._lengths[alive] > position]
        survivors = np.sort(np.concatenate(done))
        return self._ids[survivors], reached[survivors]


def _lengths(tokens: Sequence[bytes]) -> NDArray[np.int64]:
    return np.array([len(token) for token in tokens], dtype=np.int64)
