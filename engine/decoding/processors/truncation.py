"""Filters that look at surprise or remove the best tokens: typical sampling, XTC and mirostat.

Each is the same if a constant is added to all logits. None is applied where a part of the distribution is unknown,
since which tokens are kept depends on the probabilities of all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.decoding.processors.logits import Allowed, Logits, kth_best, mask, softmax
from engine.decoding.processors.partial_logits import PartialLogits
from engine.decoding.processors.shaping import SamplingRun

_XTC_STREAM: Final = 1  # so that its draw is not that of the token
_FIRST_LOOK: Final = 1024  # tokens that usually suffice for typical sampling
_ESTIMATED: Final = 100  # tokens from which mirostat estimates Zipf's exponent; `m` in llama.cpp
_FLAT: Final = 1e-12  # the least exponent of Zipf's law, and its least distance from 1
_MOST_FOR_XTC: Final = 0.5  # above this threshold, two tokens cannot have it


class _Truncation:
    """A `Shape` that keeps some tokens; a `PartialShape` that is applied to complete rows only."""

    __slots__ = ()

    def kept(self, logits: Logits) -> Allowed:
        """Return the tokens that it keeps of a row in which some are left, bool[W]."""
        raise NotImplementedError

    def __call__(self, logits: Logits, _history: Sequence[int]) -> Logits:
        """Process one row."""
        return mask(logits, self.kept(logits)) if logits.max(initial=-np.inf) > -np.inf else logits

    def on_partial(self, given: PartialLogits) -> PartialLogits | None:
        """See `PartialShape`."""
        return PartialLogits(self(given.logits, ())) if given.is_known else None


@dataclass(frozen=True, slots=True)
class Typical(_Truncation):
    """Keeps the tokens whose surprise is closest to the entropy, until they have a mass (Meister et al. 2023).

    `|-ln p - H|`, ascending; the smallest set with at least this mass, and ties with its last one. It computes what
    transformers' `TypicalLogitsWarper` does; llama.cpp's `typ_p` differs where a sum is exactly the mass.

    Attributes:
        mass: the mass, 0 to 1.
    """

    mass: float

    def kept(self, logits: Logits) -> Allowed:
        """Return the tokens that it keeps, bool[W]."""
        p = softmax(logits)
        with np.errstate(divide="ignore"):
            surprise = -np.log(p)
        possible = np.flatnonzero(p)
        distance = np.full_like(logits, np.inf)
        distance[possible] = np.abs(surprise[possible] - float(np.einsum("i,i->", p[possible], surprise[possible])))
        count = min(_FIRST_LOOK, possible.shape[0])
        while True:  # a sort of the vocabulary takes longer than the rest of a step
            nearest = np.flatnonzero(distance <= -kth_best(-distance, count))
            if count == possible.shape[0] or float(p[nearest].sum()) > self.mass:
                break
            count = min(8 * count, possible.shape[0])
        order = nearest[np.argsort(distance[nearest], kind="stable")]
        last = min(int(np.count_nonzero(np.cumsum(p[order]) < self.mass)), order.shape[0] - 1)
        kept: Allowed = distance <= distance[order[last]]
        return kept


@dataclass(frozen=True, slots=True)
class Xtc(_Truncation):
    """Removes, at some draws, all tokens above a threshold but the least probable of them ("exclude top choices").

    It is llama.cpp's definition (`llama_sample_xtc_apply`, after text-generation-webui's pull request 6335). Whether it
    acts at a step depends on the seed and on the index of the step alone.

    Attributes:
        probability: how often it acts, 0 to 1.
        threshold: the probability from which on a token is a top choice; above 0.5 it does nothing.
        acts: whether it acts at this draw.
    """

    probability: float
    threshold: float
    acts: bool = True

    def of_run(self, run: SamplingRun) -> Xtc:
        """See `RunShape`."""
        index = len(run.history) - run.prompt
        chance = float(np.random.default_rng((run.seed, index, _XTC_STREAM)).random())
        return Xtc(self.probability, self.threshold, chance <= self.probability)

    def kept(self, logits: Logits) -> Allowed:
        """Return the tokens that it keeps, bool[W]."""
        p = softmax(logits)
        top = np.flatnonzero(p >= self.threshold)
        kept = np.ones(p.shape[0], np.bool_)
        if self.acts and self.probability > 0 and self.threshold <= _MOST_FOR_XTC and top.shape[0] > 1:
            # Of equal ones, the last id stays: it is the last by rank.
            kept[top] = False
            kept[top[p[top] == p[top].min()][-1]] = True
        return kept


@dataclass(frozen=True, slots=True)
class Mirostat(_Truncation):
    """Keeps the surprise of the text near a target (Basu et al. 2021), as llama.cpp's samplers of this name do.

    A bound `mu` begins at `2 * tau`. After each draw of a token with the probability p, it becomes
    `mu - eta * (-log2(p) - tau)`. Version 2 keeps the tokens whose surprise is at most `mu`. Version 1 estimates the
    exponent `s` of Zipf's law from the best tokens and keeps the `k` best ones, where
    `k = ((s - 1) * 2 ** mu / (1 - W ** (1 - s))) ** (1 / s)` and W is the number of tokens of the vocabulary.

    `mu` follows from the probabilities that the tokens so far were drawn with, so that going back and branching give
    the same draws again. Tokens that were not drawn, such as those of a forced run, do not change it.

    Attributes:
        version: 1 or 2; 0 keeps all tokens.
        tau: the target, in bits.
        eta: the learning rate.
        mu: the bound at this draw; None before the first one.
    """

    version: int
    tau: float
    eta: float
    mu: float | None = None

    def of_run(self, run: SamplingRun) -> Mirostat:
        """See `RunShape`."""
        mu = 2 * self.tau
        for p in run.drawn:
            if p:
                mu -= self.eta * (-math.log2(p) - self.tau)
        return Mirostat(self.version, self.tau, self.eta, mu)

    def kept(self, logits: Logits) -> Allowed:
        """Return the tokens that it keeps, bool[W]."""
        if not self.version:
            return np.ones(logits.shape[0], np.bool_)
        p = softmax(logits)
        mu = 2 * self.tau if self.mu is None else self.mu
        if self.version == 1:
            left = int(np.count_nonzero(p))
            best = np.sort(p[logits >= kth_best(logits, min(_ESTIMATED, left))])[::-1][:_ESTIMATED]
            count = _zipf_count(best, mu, p.shape[0])
            return np.asarray(logits >= kth_best(logits, min(max(count, 1), left)))
        return np.asarray(p >= min(2.0**-mu, float(p.max())))


def _zipf_count(p: Logits, mu: float, width: int) -> int:
    """Return how many of the best tokens mirostat 1 keeps, given the probabilities of the first of them."""
    if p.shape[0] < 2:  # one point has no slope
        return 1
    at = np.arange(1, p.shape[0])
    steps, falls = np.log((at + 1) / at), np.log(p[:-1] / p[1:])
    exponent = max(float(steps @ falls) / float(steps @ steps), _FLAT)
    beyond = exponent - 1
    # At an exponent of 1, the fraction has the limit 1 / ln W.
    fraction = 1 / math.log(width) if abs(beyond) < _FLAT else beyond / -math.expm1(-beyond * math.log(width))
    log_count = (math.log(fraction) + mu * math.log(2)) / exponent
    return width if log_count >= math.log(width) else int(math.exp(log_count))
