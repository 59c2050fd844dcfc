"""Logits as every processor reckons with them: the last axis is the vocabulary, a removed token has `-inf`.

Rejected: probabilities in, probabilities out. Logits keep their precision where
a probability underflows, and no processor then needs to normalise.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Logits: TypeAlias = NDArray[np.float64]
"""float64[..., V]: no NaN, no `+inf`."""
Allowed: TypeAlias = NDArray[np.bool_]


def sanitise(logits: NDArray[np.floating[Any]], width: int) -> Logits:
    """Logits that every later step can reckon with: float64[..., width], no NaN, no `+inf`.

    A NaN counts as `-inf`. Where a model says `+inf`, it means those tokens and no
    others. Missing ones are `-inf`, those beyond `width` are kept.
    """
    given = logits.shape[-1]
    clean = np.full((*logits.shape[:-1], max(width, given)), -np.inf)
    clean[..., :given] = logits
    clean[np.isnan(clean)] = -np.inf
    certain = np.isposinf(clean)
    if certain.any():
        is_certain = certain.any(axis=-1, keepdims=True)
        return np.where(is_certain, np.where(certain, 0.0, -np.inf), clean)
    return clean


def log_sum_exp(logits: Logits) -> float:
    """`ln Σ exp(logits)` of one row; `-inf` where no logit is finite."""
    top = float(logits.max(initial=-np.inf))
    if top == -np.inf:
        return -np.inf
    return top + float(np.log(np.exp(logits - top).sum()))


def softmax(logits: Logits) -> Logits:
    """Probabilities that sum to 1 along the last axis; all zero where no logit is finite."""
    top = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(logits - np.where(np.isneginf(top), 0.0, top))
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights / np.where(total == 0, 1.0, total), dtype=np.float64)


def mask(logits: Logits, allowed: Allowed) -> Logits:
    """Removes what is not allowed; `allowed` is bool[..., V]."""
    return np.where(allowed, logits, -np.inf)


def padded(allowed: Allowed, width: int) -> Allowed:
    """A mask, bool[V], as wide as the logits: ids beyond the vocabulary are not allowed."""
    if allowed.shape[0] == width:
        return allowed
    wide = np.zeros(width, dtype=np.bool_)
    wide[: allowed.shape[0]] = allowed
    return wide
