"""Counts of the allowed tokens by their first byte, which says how many take each edge that leaves a state."""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from engine.decoding.values import FirstBytes
from engine.vocabulary import Vocabulary

_NO_BYTE = 256


def count_first_bytes(
    allowed: npt.NDArray[np.bool_], vocabulary: Vocabulary, p: npt.NDArray[np.floating] | None = None
) -> FirstBytes:
    """Count the allowed tokens by their first byte.

    Args:
        allowed: bool[V], the mask.
        vocabulary: the vocabulary of the ids.
        p: float[W], W >= V, the model's probabilities before masking; NaN where unknown.
    """
    ids = np.flatnonzero(allowed)
    first = _first_bytes(vocabulary)[ids]
    counts = np.bincount(first, minlength=_NO_BYTE)[:_NO_BYTE]
    masses: tuple[float | None, ...] = ()
    if p is not None:
        summed = np.bincount(first, weights=p[ids], minlength=_NO_BYTE)[:_NO_BYTE]
        found, some_unknown = summed.tolist(), bool(np.isnan(summed).any())
        masses = tuple(None if math.isnan(mass) else mass for mass in found) if some_unknown else tuple(found)
    return FirstBytes(tuple(counts.tolist()), masses)


def _first_bytes(vocabulary: Vocabulary) -> npt.NDArray[np.intp]:
    """Return the first byte of every token, intp[V]; `_NO_BYTE` for EOS ids and tokens without bytes."""
    known = _first_bytes_of.get(vocabulary)
    if known is None:
        ends = vocabulary.eos_ids
        firsts = (token[0] if token and i not in ends else _NO_BYTE for i, token in enumerate(vocabulary.tokens))
        known = _first_bytes_of[vocabulary] = np.fromiter(firsts, np.intp, vocabulary.size)
    return known


_first_bytes_of: WeakKeyDictionary[Vocabulary, npt.NDArray[np.intp]] = WeakKeyDictionary()
