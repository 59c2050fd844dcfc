"""The interface of a decoding processor, which is stateful, batched and pure, and pipelines of processors.

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
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.decoding.errors import EmptyMaskError
from engine.decoding.processors.logits import Logits, sanitise
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text

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


States: TypeAlias = tuple[Any, ...]


class Pipeline:
    """A processor made of named processors, in an order that the user sees and changes.

    The order matters. A mask after top-k may find that none of its allowed tokens is left, and reports it; before top-k
    this cannot happen.

        >>> from engine.vocabulary import Vocabulary
        >>> from engine.decoding.processors import StaticMask, Temperature
        >>> vocabulary = Vocabulary([b"a", b"b", b"\\n"], eos_ids=[])
        >>> pipeline = Pipeline([("static", StaticMask(vocabulary, ["LOWER"])), ("temperature", Temperature(0.5))])
        >>> logits, state = pipeline.process(pipeline.init(1), np.array([[1.0, 3.0, 9.0]]), Context.of([[]]))
        >>> logits.tolist()
        [[2.0, 6.0, -inf]]
        >>> pipeline.moved("temperature", 0).names
        ('temperature', 'static')

    Args:
        stages: pairs of a name and a processor, first to last.

    Raises:
        InvariantError: two stages have the same name.
    """

    def __init__(self, stages: Sequence[tuple[str, Processor[Any]]] = ()) -> None:
        self.stages = tuple(stages)
        if len(set(self.names)) < len(self.stages):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise InvariantError("errors.decoding.stages.twice", name=repr(twice))

    @property
    def names(self) -> tuple[str, ...]:
        """The stages' names in their order."""
        return tuple(name for name, _ in self.stages)

    def init(self, rows: int) -> States:
        """Return the initial states of all stages."""
        return tuple(processor.init(rows) for _, processor in self.stages)

    def process(self, state: States, logits: Logits, context: Context) -> tuple[Logits, States]:
        """Apply all stages to the logits; see `Processor.process`.

        Args:
            state: the states of all stages.
            logits: float64[B, W].
            context: the tokens so far.

        Raises:
            EmptyMaskError: a stage left no token; the error names it.
        """
        left, following = self.outcomes(state, logits, context)
        return left[-1][1] if left else sanitise(logits, logits.shape[-1]), following

    def outcomes(
        self, state: States, logits: Logits, context: Context
    ) -> tuple[tuple[tuple[str, Logits], ...], States]:
        """Return the logits after each stage, by name and in order, and the next state.

        Args:
            state: the states of all stages.
            logits: float64[B, W].
            context: the tokens so far.
        """
        passed = list(self._through(state, sanitise(logits, logits.shape[-1]), context))
        left = tuple((name, made) for name, (made, _) in zip(self.names, passed, strict=True))
        return left, tuple(after for _, after in passed)

    def _through(self, state: States, logits: Logits, context: Context) -> Iterator[tuple[Logits, Any]]:
        for (name, processor), before in zip(self.stages, state, strict=True):
            try:
                logits, after = processor.process(before, logits, context)
            except EmptyMaskError as error:
                raise error.named(name) from None
            empty = np.isneginf(logits).all(axis=-1)
            if empty.any():
                raise EmptyMaskError(name, catalogue_text("decoding.empty.removed_last"), row=int(np.argmax(empty)))
            yield logits, after

    def moved(self, name: str, index: int) -> Pipeline:
        """Return the pipeline with a stage moved to an index."""
        stage = self.stages[self._index(name)]
        others = [other for other in self.stages if other is not stage]
        return Pipeline([*others[:index], stage, *others[index:]])

    def without(self, name: str) -> Pipeline:
        """Return the pipeline without a stage."""
        at = self._index(name)
        return Pipeline((*self.stages[:at], *self.stages[at + 1 :]))

    def with_stage(self, name: str, processor: Processor[Any], index: int | None = None) -> Pipeline:
        """Return the pipeline with one more stage.

        Args:
            name: the name of the stage.
            processor: the processor.
            index: the position; None for the end.
        """
        at = len(self.stages) if index is None else index
        return Pipeline((*self.stages[:at], (name, processor), *self.stages[at:]))

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise InvariantError("errors.decoding.stages.unknown", name=repr(name), names=", ".join(self.names) or "–")
        return self.names.index(name)
