"""Logits processors: each takes logits, float64[V], and returns new ones.

They give what transformers' processors and warpers of the same names give
(`transformers/generation/logits_process.py`), in numpy, so that a step needs no
torch and a test can hold one against the other. A removed token has `-inf`.

Rejected: probabilities in, probabilities out. Logits keep their precision where
a probability underflows, and no processor then needs to normalise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.decoding.values import SamplerSettings

Logits = NDArray[np.float64]


def sanitise(logits: NDArray[np.floating], width: int) -> Logits:
    """Logits that every later step can reckon with: float64[width], no NaN, no `+inf`.

    A NaN counts as `-inf`. Where a model says `+inf`, it means those tokens and no
    others. Missing ones are `-inf`, those beyond `width` are kept.
    """
    clean = np.full(max(width, logits.shape[0]), -np.inf)
    clean[: logits.shape[0]] = logits
    clean[np.isnan(clean)] = -np.inf
    certain = np.isposinf(clean)
    if certain.any():
        return np.where(certain, 0.0, -np.inf)
    return clean


def log_sum_exp(logits: Logits) -> float:
    """`ln Σ exp(logits)`; `-inf` where no logit is finite."""
    top = float(logits.max(initial=-np.inf))
    if top == -np.inf:
        return -np.inf
    return top + float(np.log(np.exp(logits - top).sum()))


def softmax(logits: Logits) -> Logits:
    """Probabilities that sum to 1; all zero where no logit is finite."""
    top = float(logits.max(initial=-np.inf))
    if top == -np.inf:
        return np.zeros_like(logits)
    weights = np.exp(logits - top)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def mask(logits: Logits, allowed: NDArray[np.bool_]) -> Logits:
    """Removes what the grammar does not allow; `allowed` is bool[V]."""
    return np.where(allowed, logits, -np.inf)


def repetition_penalty(logits: Logits, history: Sequence[int], penalty: float) -> Logits:
    """Divides positive logits of ids that occurred and multiplies negative ones (Keskar et al. 2019, CTRL)."""
    seen = np.unique(np.array([i for i in history if i < logits.shape[0]], dtype=np.int64))
    penalised = logits.copy()
    scores = logits[seen]
    penalised[seen] = np.where(scores < 0, scores * penalty, scores / penalty)
    return penalised


def temperature(logits: Logits, degree: float) -> Logits:
    """Divides the logits."""
    # Shifting first changes no probability and keeps a tiny temperature from overflowing to +inf.
    top = float(logits.max(initial=-np.inf))
    shifted = logits - top if top > -np.inf else logits
    return np.asarray(shifted / degree, dtype=np.float64)


def top_k(logits: Logits, k: int) -> Logits:
    """Keeps the k highest logits, and whatever ties with the last of them."""
    k = min(k, logits.shape[0])
    threshold = np.partition(logits, -k)[-k]
    return np.where(logits < threshold, -np.inf, logits)


def top_p(logits: Logits, mass: float) -> Logits:
    """Keeps the smallest set of tokens whose mass reaches p (Holtzman et al. 2020), at least one."""
    # Ascending, higher ids first among equals: so the lower id of a tie is the one that stays.
    order = logits.shape[0] - 1 - np.argsort(logits[::-1], kind="stable")
    mass_up_to = np.cumsum(softmax(logits)[order])
    removed = mass_up_to <= 1.0 - mass
    removed[-1] = False
    kept = logits.copy()
    kept[order[removed]] = -np.inf
    return kept


def min_p(logits: Logits, share: float) -> Logits:
    """Keeps tokens of at least this share of the best one's probability (Nguyen et al. 2024)."""
    probabilities = softmax(logits)
    return np.where(probabilities < share * probabilities.max(initial=0.0), -np.inf, logits)


def process(logits: Logits, history: Sequence[int], settings: SamplerSettings) -> Logits:
    """What a sampler's settings make of masked logits. Greedy needs the penalty alone."""
    if settings.repetition_penalty != 1.0:
        logits = repetition_penalty(logits, history, settings.repetition_penalty)
    if settings.temperature == 0:
        return logits
    if settings.temperature != 1.0:
        logits = temperature(logits, settings.temperature)
    if settings.top_k > 0:
        logits = top_k(logits, settings.top_k)
    if settings.top_p < 1.0:
        logits = top_p(logits, settings.top_p)
    if settings.min_p > 0.0:
        logits = min_p(logits, settings.min_p)
    return logits
