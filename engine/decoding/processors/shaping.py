"""Processors that shape a distribution: penalty, temperature and filters.

They compute what transformers' processors and warpers of the same names compute
(`transformers/generation/logits_process.py`), in numpy, so that a step needs no torch and a test can compare both. Each
function takes one row, float64[V]; the classes apply it to each row of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.logits import Allowed, Logits, kth_best, mask, mass_of, softmax
from engine.decoding.processors.partial_logits import PartialLogits
from engine.decoding.processors.processor import Context

Shape = Callable[[Logits, Sequence[int]], Logits]
"""A function of a row of logits, float64[V], and the tokens so far."""


@dataclass(frozen=True, slots=True)
class SamplingRun:
    """The state of a run before a draw, beside the logits: a pure function of the tokens taken so far.

    Attributes:
        history: the tokens so far, prompt included.
        prompt: how many of them are the prompt's.
        seed: the seed of the draws.
        drawn: the probability with which each token after the prompt was drawn; None if it was not.
    """

    history: Sequence[int]
    prompt: int = 0
    seed: int = 0
    drawn: Sequence[float | None] = ()


@runtime_checkable
class RunShape(Protocol):
    """A stage that depends on more of a run than its tokens; before each draw, it is bound to the run."""

    def of_run(self, run: SamplingRun) -> Shape:
        """Return the function of this draw."""
        ...


_LARGEST_LOGIT = 1e12
_FIRST_LOOK = 1024  # the number of best tokens that usually suffices for top-p


def repetition_penalty(logits: Logits, history: Sequence[int], penalty: float) -> Logits:
    """Divide positive logits of ids that occurred and multiply negative ones (Keskar et al. 2019, CTRL).

    Args:
        logits: float64[V].
        history: the ids so far; ids beyond the logits are ignored.
        penalty: the factor, above 0.
    """
    seen = np.unique(np.array([i for i in history if 0 <= i < logits.shape[0]], dtype=np.int64))
    penalised = logits.copy()
    scores = logits[seen]
    penalised[seen] = np.where(scores < 0, scores * penalty, scores / penalty)
    return penalised


def temperature(logits: Logits, degree: float) -> Logits:
    """Divide the logits by a temperature above 0."""
    # Shifting first changes no probability and keeps a tiny temperature from overflowing to +inf.
    top = float(logits.max(initial=-np.inf))
    is_too_large = top > -np.inf and abs(top) > _LARGEST_LOGIT * degree
    return np.asarray((logits - top if is_too_large else logits) / degree, dtype=np.float64)


def top_k(logits: Logits, k: int) -> Logits:
    """Keep the k highest logits, and ties with the last of them."""
    return mask(logits, logits >= kth_best(logits, min(k, logits.shape[0])))


def top_p(logits: Logits, mass: float) -> Logits:
    """Keep the smallest set of tokens whose mass reaches p (Holtzman et al. 2020), at least one."""
    p = softmax(logits)
    best, rest = _best_tokens(logits, p, 1.0 - mass)
    # Ascending, higher ids first among ties, so that the lower id of a tie is kept.
    order = best[best.shape[0] - 1 - np.argsort(logits[best][::-1], kind="stable")]
    removed = rest + np.cumsum(p[order]) <= 1.0 - mass
    removed[-1:] = False
    kept = np.full_like(logits, -np.inf)
    kept[order[~removed]] = logits[order[~removed]]
    return kept


def _best_tokens(logits: Logits, p: Logits, spare: float) -> tuple[NDArray[np.int64], float]:
    """Return the best tokens, enough that the mass of the others is at most `spare`, and that mass.

    Sorting a vocabulary takes thirty times as long as finding its thousand best tokens.
    """
    finite = int(np.count_nonzero(logits > -np.inf))
    count = min(_FIRST_LOOK, finite)
    while count:
        best = logits >= kth_best(logits, count)
        rest = mass_of(p, ~best)
        if rest <= spare or count == finite:
            return np.flatnonzero(best), rest
        count = min(8 * count, finite)
    return np.empty(0, dtype=np.int64), 0.0


def min_p(logits: Logits, share: float) -> Logits:
    """Keep tokens with at least this share of the best token's probability (Nguyen et al. 2024)."""
    probabilities = softmax(logits)
    return mask(logits, probabilities >= share * probabilities.max(initial=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Masking:
    """A `Shape` that masks tokens and exposes its mask, so that a caller who has the result need not call it.

    Attributes:
        allowed: bool[V].
    """

    allowed: Allowed

    def __call__(self, logits: Logits, _history: Sequence[int]) -> Logits:
        """Mask one row."""
        return mask(logits, self.allowed)

    def on_partial(self, given: PartialLogits) -> PartialLogits:
        """See `PartialShape`."""
        return given.masked(self.allowed)


class _Stateless:
    """A processor without state; it is the `Shape` of its rows."""

    def init(self, rows: int) -> None:
        """Return no state."""

    def process(self, state: None, logits: Logits, context: Context) -> tuple[Logits, None]:
        """Process each row separately."""
        shaped = [self(row, history) for row, history in zip(logits, context.histories(), strict=True)]
        return np.stack(shaped) if shaped else logits, None

    def __call__(self, logits: Logits, history: Sequence[int]) -> Logits:
        """Process one row."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class RepetitionPenalty(_Stateless):
    """`repetition_penalty` as a processor. It needs the model's own logits: a constant added to all changes it.

    Attributes:
        penalty: the factor.
        window: how many of the last tokens count, prompt included; 0 for all of them (llama.cpp: `repeat_last_n`).
    """

    penalty: float
    window: int = 0

    def __call__(self, logits: Logits, history: Sequence[int]) -> Logits:
        """Process one row."""
        return repetition_penalty(logits, history[-self.window :] if self.window else history, self.penalty)


class _Filter(_Stateless):
    """A processor whose effect is the same if a constant is added to all logits; a `PartialShape`."""

    def on_partial(self, given: PartialLogits) -> PartialLogits | None:
        """See `PartialShape`."""
        return PartialLogits(self(given.logits, ())) if given.is_known else self._on_unknown(given)

    def _on_unknown(self, given: PartialLogits) -> PartialLogits | None:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Temperature(_Filter):
    """`temperature` as a processor; its degree is above 0."""

    degree: float

    def __call__(self, logits: Logits, history: Sequence[int]) -> Logits:
        """Process one row."""
        return temperature(logits, self.degree)

    def _on_unknown(self, given: PartialLogits) -> PartialLogits:
        return given.divided(self.degree)


@dataclass(frozen=True, slots=True)
class TopK(_Filter):
    """`top_k` as a processor."""

    k: int

    def __call__(self, logits: Logits, history: Sequence[int]) -> Logits:
        """Process one row."""
        return top_k(logits, self.k)

    def _on_unknown(self, given: PartialLogits) -> PartialLogits | None:
        return given.best(self.k)


@dataclass(frozen=True, slots=True)
class TopP(_Filter):
    """`top_p` as a processor."""

    mass: float

    def __call__(self, logits: Logits, history: Sequence[int]) -> Logits:
        """Process one row."""
        return top_p(logits, self.mass)

    def _on_unknown(self, given: PartialLogits) -> PartialLogits | None:
        return given.nucleus(self.mass)


@dataclass(frozen=True, slots=True)
class MinP(_Filter):
    """`min_p` as a processor."""

    share: float

    def __call__(self, logits: Logits, history: Sequence[int]) -> Logits:
        """Process one row."""
        return min_p(logits, self.share)

    def _on_unknown(self, given: PartialLogits) -> PartialLogits | None:
        return given.likely(self.share)
