"""Logits as every processor handles them: the last axis is the vocabulary, a removed token has `-inf`.

Rejected: probabilities in, probabilities out. Logits keep their precision where a probability underflows, and no
processor needs to normalise.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Logits: TypeAlias = NDArray[np.float64]
"""float64[..., V]: no NaN, no `+inf`."""
Allowed: TypeAlias = NDArray[np.bool_]

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_LIMITS = np.where(_BITS == 1, 0.0, -np.inf)
"""float64[256, 8]: what to add to eight logits for each byte of a packed mask."""
_STRIPES = 4  # per logit that is searched for
_FEW = 8  # a row with at most every eighth logit left is computed from those alone


def sanitise(logits: NDArray[np.floating[Any]], width: int) -> Logits:
    """Return logits that every later step can handle: float64[..., width], no NaN, no `+inf`.

    A NaN counts as `-inf`. If a model returns `+inf`, only those tokens remain. Missing logits are `-inf`; those beyond
    `width` are kept.
    """
    given = logits.shape[-1]
    clean = np.empty((*logits.shape[:-1], max(width, given)))
    clean[..., :given], clean[..., given:] = logits, -np.inf
    if clean.max(initial=-np.inf) < np.inf:  # `max` returns NaN if there is one, which fails this test
        return clean
    clean[np.isnan(clean)] = -np.inf
    certain = np.isposinf(clean)
    if certain.any():
        is_certain = certain.any(axis=-1, keepdims=True)
        return np.where(is_certain, np.where(certain, 0.0, -np.inf), clean)
    return clean


def log_sum_exp(logits: Logits) -> float:
    """Return `ln Σ exp(logits)` of one row; `-inf` if no logit is finite."""
    top = float(logits.max(initial=-np.inf))
    if top == -np.inf:
        return -np.inf
    return top + float(np.log(np.exp(logits - top).sum()))


def softmax(logits: Logits) -> Logits:
    """Return probabilities that sum to 1 along the last axis; all zero if no logit is finite."""
    if logits.ndim == 1 and np.count_nonzero(finite := logits > -np.inf) < logits.shape[0] // _FEW:
        p = np.zeros_like(logits)
        left = np.flatnonzero(finite)
        if left.shape[0]:  # exp(-inf) takes four times as long as exp of a finite number
            p[left] = softmax(logits[left])
        return p
    top = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    weights = np.asarray(logits - np.where(np.isneginf(top), 0.0, top), dtype=np.float64)
    np.exp(weights, out=weights)
    total = weights.sum(axis=-1, keepdims=True)
    weights /= np.where(total == 0, 1.0, total)
    return weights


def mask(logits: Logits, allowed: Allowed) -> Logits:
    """Set the logits of masked tokens to `-inf`; `allowed` is bool[..., V].

    It adds 0 or `-inf` from a table: `np.where` branches for each token, and on an irregular mask the mispredictions
    take ten times as long.
    """
    packed = np.packbits(allowed, axis=-1, bitorder="little")
    limits = _LIMITS.take(packed, axis=0).reshape(*packed.shape[:-1], 8 * packed.shape[-1])[..., : allowed.shape[-1]]
    return np.asarray(logits + limits, dtype=np.float64)


def mass_of(p: Logits, chosen: Allowed) -> float:
    """Return the probability of some tokens of a row.

    Rejected: `p @ chosen`. BLAS distributes it over threads, and on a busy machine they wait for a core longer than the
    rest of a step takes.
    """
    return float(np.einsum("i,i->", p, chosen))


def kth_best(logits: Logits, k: int) -> float:
    """Return the k-th highest of one row of logits, from 1 to the number of logits."""
    bound = below_kth_best(logits, k)
    good = logits[logits >= bound] if bound > -np.inf else logits[logits > -np.inf]
    if good.shape[0] < k:  # the other logits are -inf
        return -np.inf
    return float(np.partition(good, -k)[-k])


def below_kth_best(logits: Logits, k: int) -> float:
    """Return a lower bound of the k-th highest logit of a row; few logits beyond the best k reach it.

    It is the k-th highest of the maxima of all stripes. A partition of the full row takes ten times as long. It is
    `-inf` for a row that is too short, or has too few finite logits.
    """
    stripes = _STRIPES * k
    length = logits.shape[0] // stripes
    if length == 0:
        return -np.inf
    best_ones = logits[: length * stripes].reshape(length, stripes).max(axis=0)
    return float(np.partition(best_ones, -k)[-k])


def padded(allowed: Allowed, width: int) -> Allowed:
    """Return a mask, bool[V], widened to the logits: ids beyond the vocabulary are masked."""
    if allowed.shape[0] == width:
        return allowed
    wide = np.zeros(width, dtype=np.bool_)
    wide[: allowed.shape[0]] = allowed
    return wide
