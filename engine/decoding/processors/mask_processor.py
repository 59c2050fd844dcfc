"""Processors that only remove tokens: an automaton for one row, and a batch of such rows.

A subclass defines three functions of a state: the initial state, the state after a token, and the allowed tokens. This
module adds what they share: rows that have ended, the first call, and the error when nothing is left.

A row that has ended, by an EOS token or because nothing may follow, keeps one token, `pad_id`, whatever the logits are:
it can be sampled from like any other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np

from engine.decoding.errors import EmptyMaskError
from engine.decoding.processors.logits import Allowed, Logits, padded
from engine.decoding.processors.processor import Context
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, visible

S = TypeVar("S")

MOST_NAMED = 8


class Ended:
    """The state of a row after an EOS token."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "ENDED"


ENDED: Final = Ended()


@dataclass(frozen=True, slots=True)
class BatchRows(Generic[S]):
    """The state of a batch: one state for each row.

    Attributes:
        states: by row.
        started: whether `process` was called before, so that the last token must still be read.
    """

    states: tuple[S | Ended, ...]
    started: bool = False


class RowMachine(ABC, Generic[S]):
    """An automaton that decides what may come next in one row.

    Attributes:
        vocabulary: the vocabulary of the mask.
        pad_id: the only token of a row that has ended: by default the lowest EOS id, or 0 without one.
        stops_itself: whether a text without an EOS token may end where it accepts.
    """

    stops_itself: bool = True

    def __init__(self, vocabulary: Vocabulary, pad_id: int | None = None) -> None:
        self.vocabulary = vocabulary
        self.pad_id = min(vocabulary.eos_ids, default=0) if pad_id is None else pad_id

    @property
    def nothing_left(self) -> str:
        """What an empty mask means, in words."""
        return catalogue_text("decoding.empty.no_token")

    @abstractmethod
    def start(self) -> S:
        """Return the state before the first token."""

    @abstractmethod
    def advance(self, state: S, token_id: int) -> S | None:
        """Return the state after a token other than EOS; None if it is not allowed."""

    @abstractmethod
    def allowed(self, state: S) -> Allowed:
        """Return the allowed tokens, EOS included, bool[V]; read-only."""

    @abstractmethod
    def is_accepting(self, state: S) -> bool:
        """Return whether the output may end here."""

    def expected(self, state: S) -> str:
        """Describe what may come next."""
        return named(self.vocabulary, np.flatnonzero(self.allowed(state)).tolist())

    def why_not(self, state: S, token_id: int) -> str:
        """Describe why a token may not come next."""
        wanted = self.expected(state)
        if not wanted:
            return catalogue_text("decoding.expected.nothing")
        return catalogue_text("decoding.expected.text", expected=wanted)

    def step(self, state: S, token_id: int) -> S | Ended | None:
        """Return the state after any token; None if it is not allowed."""
        if token_id in self.vocabulary.eos_ids:
            return ENDED if self.allowed(state)[token_id] else None
        return self.advance(state, token_id) if 0 <= token_id < self.vocabulary.size else None

    def is_over(self, state: S) -> bool:
        """Return whether the output is complete and nothing may follow, not even an EOS token."""
        return self.is_accepting(state) and not self.allowed(state).any()


class MaskProcessor(RowMachine[S]):
    """A processor that runs an automaton for every row of a batch."""

    def init(self, rows: int) -> BatchRows[S]:
        """Return the initial state for every row."""
        return BatchRows((self.start(),) * rows)

    def process(self, state: BatchRows[S], logits: Logits, context: Context) -> tuple[Logits, BatchRows[S]]:
        """Remove the tokens that are not allowed; see `Processor.process`.

        Args:
            state: the state of the batch.
            logits: float64[B, W].
            context: the tokens so far.
        """
        states = state.states
        if state.started:
            last = context.last.tolist()
            pairs = enumerate(zip(states, last, strict=True))
            states = tuple(self._advance_row(row_state, token, row) for row, (row_state, token) in pairs)
        masked = np.full_like(logits, -np.inf)
        for row, row_state in enumerate(states):
            if isinstance(row_state, Ended) or self.is_over(row_state):
                masked[row, self.pad_id] = 0.0
            else:
                self._mask_row(row_state, logits[row], masked[row], row)
        return masked, BatchRows(states, started=True)

    def _advance_row(self, state: S | Ended, token_id: int, row: int) -> S | Ended:
        if isinstance(state, Ended) or self.is_over(state):
            return state
        following = self.step(state, token_id)
        if following is None:
            cause = catalogue_text("decoding.empty.taken", tokens=named(self.vocabulary, [token_id]))
            raise EmptyMaskError("", cause, self.expected(state), row)
        return following

    def _mask_row(self, state: S, given: Logits, out: Logits, row: int) -> None:
        allowed = padded(self.allowed(state), given.shape[0])
        np.copyto(out, given, where=allowed)
        out[np.isnan(out)] = -np.inf
        if np.isneginf(out).all():
            if allowed.any():
                raise EmptyMaskError("", catalogue_text("decoding.empty.ruled_out"), self.expected(state), row)
            raise EmptyMaskError("", self.nothing_left, self.expected(state), row)


def named(vocabulary: Vocabulary, token_ids: Iterable[int]) -> str:
    """Name tokens in words: "`a`, `b` or 3 others"."""
    ids = list(token_ids)
    shown = [_name(vocabulary, token_id) for token_id in ids[:MOST_NAMED]]
    if len(ids) > MOST_NAMED:
        shown[-1:] = [catalogue_text("decoding.expected.others", count=len(ids) - MOST_NAMED + 1)]
    return either(shown)


def either(names: Sequence[str]) -> str:
    """Return alternatives as words: "a, b or c"."""
    if len(names) < 2:
        return "".join(names)
    return catalogue_text("decoding.expected.either", first=", ".join(names[:-1]), last=names[-1])


def _name(vocabulary: Vocabulary, token_id: int) -> str:
    token = vocabulary.tokens[token_id] if 0 <= token_id < vocabulary.size else None
    if token:
        return f"`{visible(token)}`"
    return vocabulary.special.get(token_id) or catalogue_text("decoding.expected.token", id=token_id)
