"""A token DFA as one dense table, and a processor that works entirely in numpy.

Row s, column t of the table is the state after token t in state s; row 0 and entries of 0 mean "no state". Columns are
token ids, 0 included. All rows of a batch advance by one look-up and are masked by another (modelled on the DFA
processor of Bumblebee, over Nx tensors).

The state for the next call is not known when logits are masked, since the token is drawn afterwards. So the first call
masks in the initial state and does not advance, and each later call computes its state from the last token.

The end of the text is a transition like any other: where an EOS token has none, the text cannot end.

    >>> cycle = DfaTable([(1, 0, 2), (2, 1, 3), (3, 2, 1)], initial=1, width=4)
    >>> state, logits = cycle.init(1), np.zeros((1, 4))
    >>> first, state = cycle.process(state, logits, Context.of([[]]))
    >>> first.tolist()
    [[0.0, -inf, -inf, -inf]]
    >>> second, state = cycle.process(state, logits, Context.of([[0]]))
    >>> second.tolist()
    [[-inf, 0.0, -inf, -inf]]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.decoding.errors import EmptyMaskError
from engine.decoding.processors.logits import Allowed, Logits
from engine.decoding.processors.mask_processor import RowMachine, named
from engine.decoding.processors.processor import Context
from engine.source import InvariantError, LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

NO_STATE = 0
MOST_ENTRIES = 500_000_000
Transition = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class TableState:
    """The state of a batch.

    Attributes:
        states: int32[B].
        ended: bool[B], the rows that took an EOS token.
        started: whether `process` was called before.
    """

    states: NDArray[np.int32]
    ended: NDArray[np.bool_]
    started: bool = False


class DfaTable(RowMachine[int]):
    """Transitions in a dense table.

    Args:
        transitions: triples of a state, a token id and the next state. States are numbered from 1.
        initial: the initial state.
        width: the number of token ids; or pass `vocabulary`.
        vocabulary: defines the width, the EOS tokens and, for messages, the tokens' texts.
        end_ids: the EOS tokens if there is no vocabulary.
        pad_id: as in `RowMachine`.

    Raises:
        InvariantError: a state is below 1, a token outside the width, or a token leads to two states.
        LimitExceededError: the table would have more than `MOST_ENTRIES` entries.

    Attributes:
        table: int32[S + 1, width]; read-only.
        initial: the initial state.
    """

    def __init__(
        self,
        transitions: Iterable[Transition],
        initial: int,
        width: int | None = None,
        *,
        vocabulary: Vocabulary | None = None,
        end_ids: Iterable[int] = (),
        pad_id: int | None = None,
    ) -> None:
        if vocabulary is None:
            vocabulary = Vocabulary([None] * (width or 1), eos_ids=end_ids)
        super().__init__(vocabulary, pad_id)
        listed = np.array(list(transitions), dtype=np.int64).reshape(-1, 3)
        self.initial = initial
        self.table = _dense(listed, initial, vocabulary.size)
        self._has_next: Allowed = (self.table != NO_STATE).any(axis=1)
        self._end_ids = np.array(sorted(vocabulary.eos_ids), dtype=np.int64)
        self._ends: Allowed = (self.table[:, self._end_ids] != NO_STATE).any(axis=1)

    # ------------------------------------------------------------------ a batch, by look-ups

    def init(self, rows: int) -> TableState:
        """Return the initial state for every row."""
        return TableState(np.full(rows, self.initial, dtype=np.int32), np.zeros(rows, dtype=np.bool_))

    def process(self, state: TableState, logits: Logits, context: Context) -> tuple[Logits, TableState]:
        """Advance by the last tokens, except in the first call; then remove tokens without a transition.

        Args:
            state: the state of the batch.
            logits: float64[B, W].
            context: the tokens so far.
        """
        states, ended = state.states, state.ended
        if state.started:
            states, ended = self._advanced(state, context.last)
        allowed = self.table[states] != NO_STATE
        size = self.vocabulary.size
        masked = np.full_like(logits, -np.inf)
        np.copyto(masked[:, :size], logits[:, :size], where=allowed)
        masked[np.isnan(masked)] = -np.inf
        over = ended | ((states != NO_STATE) & ~self._has_next[states])
        masked[over] = -np.inf
        masked[over, self.pad_id] = 0.0
        self._refuse_empty(masked, states, context.last)
        return masked, TableState(states, ended, started=True)

    def _advanced(self, state: TableState, last: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        known = (last >= 0) & (last < self.vocabulary.size)
        following = np.where(known, self.table[state.states, np.where(known, last, 0)], NO_STATE)
        stays = state.ended | ~self._has_next[state.states]
        states = np.where(stays, state.states, following).astype(np.int32)
        return states, state.ended | (np.isin(last, self._end_ids) & (states != NO_STATE))

    def _refuse_empty(self, masked: Logits, states: NDArray[np.int32], last: NDArray[np.int64]) -> None:
        empty = np.isneginf(masked).all(axis=1)
        if not empty.any():
            return
        row = int(np.argmax(empty))
        state = int(states[row])
        if state == NO_STATE:
            raise EmptyMaskError("", catalogue_text("decoding.empty.no_transition", token=last[row]), row=row)
        raise EmptyMaskError("", catalogue_text("decoding.empty.ruled_out"), self.expected(state), row)

    # ------------------------------------------------------------------ one row

    def start(self) -> int:
        """Return the initial state."""
        return self.initial

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the table's entry; None if there is none."""
        return int(self.table[state, token_id]) or None

    def allowed(self, state: int) -> Allowed:
        """Return the tokens that have a transition."""
        return np.asarray(self.table[state] != NO_STATE)

    def is_accepting(self, state: int) -> bool:
        """Return whether an EOS token is allowed, or nothing is."""
        return bool(self._ends[state] or not self._has_next[state])

    def expected(self, state: int) -> str:
        """Describe the state and the tokens that have a transition in it."""
        tokens = named(self.vocabulary, np.flatnonzero(self.allowed(state)).tolist())
        return catalogue_text("decoding.expected.in_state", tokens=tokens, state=state) if tokens else ""


def _dense(transitions: NDArray[np.int64], initial: int, width: int) -> NDArray[np.int32]:
    states = np.concatenate(([initial], transitions[:, 0], transitions[:, 2]))
    if states.min() <= NO_STATE:
        raise InvariantError("errors.decoding.table.state", state=states.min())
    tokens = transitions[:, 1]
    if ((tokens < 0) | (tokens >= width)).any():
        odd = int(tokens[(tokens < 0) | (tokens >= width)][0])
        raise InvariantError("errors.decoding.table.token", token=odd, last=width - 1)
    entries = (int(states.max()) + 1) * width
    if entries > MOST_ENTRIES:
        raise LimitExceededError("errors.limit.table_entries", given=entries, limit=MOST_ENTRIES)
    table = np.zeros((int(states.max()) + 1, width), dtype=np.int32)
    table[transitions[:, 0], tokens] = transitions[:, 2]
    lost = table[transitions[:, 0], tokens] != transitions[:, 2]
    if lost.any():
        state, token, _ = transitions[int(np.argmax(lost))].tolist()
        raise InvariantError("errors.decoding.table.two_states", state=state, token=token)
    table.setflags(write=False)
    return table
