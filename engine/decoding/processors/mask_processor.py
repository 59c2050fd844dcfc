"""A processor that only removes tokens: a machine for one row, and a batch of such rows.

Who writes one gives three functions of a state (where it starts, where a token
leads, what may come next). What they have in common stands here: rows that have
ended, the first call, and the error where nothing is left.

A row that has ended, by an end token or because nothing may follow, is left with
one token, `pad_id`, whatever the logits are: it can be drawn from like any other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np

from engine.decoding.errors import EmptyMaskError
from engine.decoding.processors.logits import Allowed, Logits, padded
from engine.decoding.processors.processor import Context
from engine.vocabulary import Vocabulary, visible

S = TypeVar("S")

MOST_NAMED = 8


class Ended:
    """The state of a row after an end token."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "ENDED"


ENDED: Final = Ended()


@dataclass(frozen=True, slots=True)
class BatchRows(Generic[S]):
    """The state of a batch: one state for each row.

    Attributes:
        states: by row.
        started: whether a token was asked for before, so that the last one is still to be read.
    """

    states: tuple[S | Ended, ...]
    started: bool = False


class RowMachine(ABC, Generic[S]):
    """What may come next in one row.

    Attributes:
        vocabulary: whose tokens.
        pad_id: what a row that has ended is left with: by default the lowest end token, or 0 where there is none.
        stops_itself: whether its acceptance says that a text without an end token may end.
        nothing_left: what it means that its mask is empty.
    """

    stops_itself: bool = True
    nothing_left: str = "no token of this vocabulary may follow"

    def __init__(self, vocabulary: Vocabulary, pad_id: int | None = None) -> None:
        self.vocabulary = vocabulary
        self.pad_id = min(vocabulary.eos_ids, default=0) if pad_id is None else pad_id

    @abstractmethod
    def start(self) -> S:
        """The state before the first token."""

    @abstractmethod
    def advance(self, state: S, token_id: int) -> S | None:
        """The state after a token that ends nothing; None where it may not come."""

    @abstractmethod
    def allowed(self, state: S) -> Allowed:
        """bool[V], what may come next, end tokens included; not to be written to."""

    @abstractmethod
    def is_accepting(self, state: S) -> bool:
        """Whether the output may end here."""

    def expected(self, state: S) -> str:
        """What may come next, in words."""
        return named(self.vocabulary, np.flatnonzero(self.allowed(state)).tolist())

    def why_not(self, state: S, token_id: int) -> str:
        """What stands against a token that may not come next."""
        wanted = self.expected(state)
        return f"it expects {wanted}" if wanted else "nothing may follow"

    def step(self, state: S, token_id: int) -> S | Ended | None:
        """The state after any token; None where it may not come."""
        if token_id in self.vocabulary.eos_ids:
            return ENDED if self.allowed(state)[token_id] else None
        return self.advance(state, token_id) if 0 <= token_id < self.vocabulary.size else None

    def is_over(self, state: S) -> bool:
        """Whether the output is complete and nothing may follow, not even an end token."""
        return self.is_accepting(state) and not self.allowed(state).any()


class MaskProcessor(RowMachine[S]):
    """The processor that runs a machine for every row of a batch."""

    def init(self, rows: int) -> BatchRows[S]:
        """Every row at the start."""
        return BatchRows((self.start(),) * rows)

    def process(self, state: BatchRows[S], logits: Logits, context: Context) -> tuple[Logits, BatchRows[S]]:
        """Remove what may not come next; see `Processor.process`."""
        states = state.states
        if state.started:
            last = context.last.tolist()
            pairs = enumerate(zip(states, last, strict=True))
            states = tuple(self._moved(one, token, row) for row, (one, token) in pairs)
        masked = np.full_like(logits, -np.inf)
        for row, one in enumerate(states):
            if isinstance(one, Ended) or self.is_over(one):
                masked[row, self.pad_id] = 0.0
            else:
                self._mask(one, logits[row], masked[row], row)
        return masked, BatchRows(states, started=True)

    def _moved(self, state: S | Ended, token_id: int, row: int) -> S | Ended:
        if isinstance(state, Ended) or self.is_over(state):
            return state
        following = self.step(state, token_id)
        if following is None:
            cause = f"{named(self.vocabulary, [token_id])} was taken, which may not come there"
            raise EmptyMaskError("", cause, self.expected(state), row)
        return following

    def _mask(self, state: S, given: Logits, out: Logits, row: int) -> None:
        allowed = padded(self.allowed(state), given.shape[0])
        np.copyto(out, given, where=allowed)
        out[np.isnan(out)] = -np.inf
        if np.isneginf(out).all():
            if allowed.any():
                raise EmptyMaskError("", "all that it allows was ruled out before it", self.expected(state), row)
            raise EmptyMaskError("", self.nothing_left, self.expected(state), row)


def named(vocabulary: Vocabulary, token_ids: Iterable[int]) -> str:
    """Tokens in words: "`a`, `b` or 3 others"."""
    ids = list(token_ids)
    shown = [_name(vocabulary, token_id) for token_id in ids[:MOST_NAMED]]
    if len(ids) > MOST_NAMED:
        shown[-1:] = [f"{len(ids) - MOST_NAMED + 1:,} others"]
    return f"{', '.join(shown[:-1])} or {shown[-1]}" if len(shown) > 1 else "".join(shown)


def _name(vocabulary: Vocabulary, token_id: int) -> str:
    token = vocabulary.tokens[token_id] if 0 <= token_id < vocabulary.size else None
    if token:
        return f"`{visible(token)}`"
    return vocabulary.special.get(token_id, f"token {token_id}")
