"""The interface of a decoding processor: stateful, batched and pure.

`init` returns the state before the first token; `process` takes a state, logits and the tokens so far and returns new
logits and the next state. The call for a position knows the last token, so it first advances the state by it; the very
first call does not advance (Bumblebee's and Nx's logits processors, 2024). A state is an immutable value, so going back
means reusing an older state, and branching means using one twice.

Rejected: `__call__(input_ids, scores)` on a mutable object, as in transformers. It cannot go back, and reordering the
rows of a batch breaks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.logits import Logits

State = TypeVar("State")

NO_TOKEN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The tokens so far of every row, prompt included.

    Attributes:
        ids: int64[B, L], each row from its first token on, padded with -1.
        lengths: int64[B], the number of tokens in each row.
    """

    ids: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, histories: Sequence[Sequence[int]]) -> Context:
        """Build the context of rows that are sequences of ids."""
        lengths = np.array([len(history) for history in histories], dtype=np.int64)
        ids = np.full((len(histories), max(1, int(lengths.max(initial=0)))), NO_TOKEN, dtype=np.int64)
        for row, history in enumerate(histories):
            ids[row, : len(history)] = history
        return cls(ids, lengths)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.lengths.shape[0])

    @property
    def last(self) -> NDArray[np.int64]:
        """The last token of each row, int64[B]; -1 for an empty row."""
        last: NDArray[np.int64] = self.ids[np.arange(self.rows), self.lengths - 1]
        return np.where(self.lengths > 0, last, NO_TOKEN)

    def histories(self) -> Iterator[list[int]]:
        """Yield the tokens of each row."""
        for row, length in zip(self.ids, self.lengths.tolist(), strict=True):
            yield row[:length].tolist()

    def after(self, tokens: Sequence[int] | NDArray[np.int64]) -> Context:
        """Return the context with one more token in every row."""
        ids = np.concatenate((self.ids, np.full((self.rows, 1), NO_TOKEN, dtype=np.int64)), axis=1)
        ids[np.arange(self.rows), self.lengths] = tokens
        return Context(ids, self.lengths + 1)


class Processor(Protocol[State]):
    """One technique. A state belongs to the processor that made it; its rows are the batch's."""

    def init(self, rows: int) -> State:
        """Return the state of a batch before its first token."""
        ...

    def process(self, state: State, logits: Logits, context: Context) -> tuple[Logits, State]:
        """Return new logits, and the state for the next call.

        Args:
            state: from `init` or from the previous call; not modified.
            logits: float64[B, W], without NaN or `+inf`; not modified. W may exceed the vocabulary.
            context: the tokens so far; in the first call the prompt, later one more token for every row.

        Returns:
            float64[B, W] without NaN, `-inf` where a token is removed, and the next state.

        Raises:
            EmptyMaskError: no token is left in some row.
        """
        ...
