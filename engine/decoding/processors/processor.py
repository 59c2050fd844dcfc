"""What a decoding processor is: stateful, batched and pure.

`init` gives the state before the first token, `process` takes a state, logits and
the tokens so far and gives new logits and the next state. The call for a position
knows the token that was taken last, so it first moves the state over it; the very
first call moves over nothing (Bumblebee's and Nx's logits processors, 2024). As a
state is a value and never written to, going back is to use an older one, and a
branch is to use one twice.

Rejected: `__call__(input_ids, scores)` on an object that mutates, as
transformers has it. It cannot go back, and a batch whose rows are reordered
breaks it.
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
        ids: int64[B, L], each row from its first token on, filled up with -1.
        lengths: int64[B], how many tokens each row has.
    """

    ids: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, histories: Sequence[Sequence[int]]) -> Context:
        """The context of rows that are given as sequences of ids."""
        lengths = np.array([len(history) for history in histories], dtype=np.int64)
        ids = np.full((len(histories), max(1, int(lengths.max(initial=0)))), NO_TOKEN, dtype=np.int64)
        for row, history in enumerate(histories):
            ids[row, : len(history)] = history
        return cls(ids, lengths)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.lengths.shape[0])

    @property
    def last(self) -> NDArray[np.int64]:
        """int64[B], the last token of each row; -1 where there is none."""
        last: NDArray[np.int64] = self.ids[np.arange(self.rows), self.lengths - 1]
        return np.where(self.lengths > 0, last, NO_TOKEN)

    def histories(self) -> Iterator[list[int]]:
        """The tokens of each row."""
        for row, length in zip(self.ids, self.lengths.tolist(), strict=True):
            yield row[:length].tolist()

    def after(self, tokens: Sequence[int] | NDArray[np.int64]) -> Context:
        """The context with one more token in every row."""
        ids = np.concatenate((self.ids, np.full((self.rows, 1), NO_TOKEN, dtype=np.int64)), axis=1)
        ids[np.arange(self.rows), self.lengths] = tokens
        return Context(ids, self.lengths + 1)


class Processor(Protocol[State]):
    """One technique. A state belongs to the processor that made it; its rows are the batch's."""

    def init(self, rows: int) -> State:
        """The state of a batch of so many rows before its first token."""
        ...

    def process(self, state: State, logits: Logits, context: Context) -> tuple[Logits, State]:
        """New logits, and the state for the next call.

        Args:
            state: from `init` or from the call before; it is not changed.
            logits: float64[B, W], without NaN or `+inf`; not changed either. W may exceed the vocabulary.
            context: the tokens so far; at the first call the prompt, later one token more for every row.

        Returns:
            float64[B, W] without NaN, `-inf` where a token is removed, and the next state.

        Raises:
            EmptyMaskError: no token is left in some row.
        """
        ...
