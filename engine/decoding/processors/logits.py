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

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_LIMITS = np.where(_BITS == 1, 0.0, -np.inf)
"""float64[256, 8]: what to add to eight logits under each byte of a packed mask."""
_STRIPES = 4  # for each logit that is looked for
_FEW = 8  # a row of which no more than every eighth logit is left is reckoned without the others


def sanitise(logits: NDArray[np.floating[Any]], width: int) -> Logits:
    """Logits that every later step can reckon with: float64[..., width], no NaN, no `+inf`.

    A NaN counts as `-inf`. Where a model says `+inf`, it means those tokens and no
    others. Missing ones are `-inf`, those beyond `width` are kept.
    """
    given = logits.shape[-1]
    clean = np.empty((*logits.shape[:-1], max(width, given)))
    clean[..., :given], clean[..., given:] = logits, -np.inf
    if clean.max(initial=-np.inf) < np.inf:  # a NaN is the maximum of whatever it is among, and fails this
        return clean
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
    if logits.ndim == 1 and np.count_nonzero(finite := logits > -np.inf) < logits.shape[0] // _FEW:
        p = np.zeros_like(logits)
        left = np.flatnonzero(finite)
        if left.shape[0]:  # the exponential of -inf takes four times as long as that of a number
            p[left] = softmax(logits[left])
        return p
    top = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    weights = np.asarray(logits - np.where(np.isneginf(top), 0.0, top), dtype=np.float64)
    np.exp(weights, out=weights)
    total = weights.sum(axis=-1, keepdims=True)
    weights /= np.where(total == 0, 1.0, total)
    return weights


def mask(logits: Logits, allowed: Allowed) -> Logits:
    """Removes what is not allowed; `allowed` is bool[..., V].

    By adding 0 or `-inf` from a table: `np.where` guesses at each token which way it goes, and where a mask has no
    order it guesses wrongly half of the time, which takes ten times as long.
    """
    packed = np.packbits(allowed, axis=-1, bitorder="little")
    limits = _LIMITS.take(packed, axis=0).reshape(*packed.shape[:-1], 8 * packed.shape[-1])[..., : allowed.shape[-1]]
    return np.asarray(logits + limits, dtype=np.float64)


def mass_of(p: Logits, chosen: Allowed) -> float:
    """The probability of some tokens of a row.

    Rejected: `p @ chosen`. BLAS shares it out among threads, and on a busy machine they wait for a core longer than all
    the rest of a step takes.
    """
    return float(np.einsum("i,i->", p, chosen))


def kth_best(logits: Logits, k: int) -> float:
    """The k-th highest of one row of logits, from 1 to as many as there are."""
    bound = below_kth_best(logits, k)
    good = logits[logits >= bound] if bound > -np.inf else logits[logits > -np.inf]
    if good.shape[0] < k:  # the rest was removed
        return -np.inf
    return float(np.partition(good, -k)[-k])


def below_kth_best(logits: Logits, k: int) -> float:
    """A bound that the k-th highest of one row of logits reaches, and hardly more than k of them.

    It is the k-th of the best ones of all stripes. A partition of the whole row takes ten times as long. Of a row that
    is too short for that, or of which too little is left, it is `-inf`.
    """
    stripes = _STRIPES * k
    length = logits.shape[0] // stripes
    if length == 0:
        return -np.inf
    best_ones = logits[: length * stripes].reshape(length, stripes).max(axis=0)
    return float(np.partition(best_ones, -k)[-k])


def padded(allowed: Allowed, width: int) -> Allowed:
    """A mask, bool[V], as wide as the logits: ids beyond the vocabulary are not allowed."""
    if allowed.shape[0] == width:
        return allowed
    wide = np.zeros(width, dtype=np.bool_)
    wide[: allowed.shape[0]] = allowed
    return wide
