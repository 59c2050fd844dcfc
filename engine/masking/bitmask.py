"""The layout of a mask: 32-bit words in which bit `i & 31` of word `i >> 5` is set if token `i` is allowed."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt


def pack_mask(allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint32]:
    """Return the mask of bool[V], uint32[ceil(V / 32)]."""
    bits = np.zeros(-(-len(allowed) // 32) * 32, np.bool_)
    bits[: len(allowed)] = allowed
    return np.packbits(bits, bitorder="little").view(np.uint32)


def mask_of(ids: npt.NDArray[np.int32] | Collection[int], size: int) -> npt.NDArray[np.uint32]:
    """Return the mask of some token ids of a vocabulary of `size` ids, uint32[ceil(size / 32)]."""
    allowed = np.zeros(size, np.bool_)
    allowed[ids if isinstance(ids, np.ndarray) else list(ids)] = True
    return pack_mask(allowed)


def unpack_mask(words: npt.NDArray[np.int32] | memoryview, size: int) -> npt.NDArray[np.bool_]:
    """Return bool[size]: which tokens a mask, int32[ceil(size / 32)], allows."""
    octets = np.asarray(words).astype("<i4", copy=False).view(np.uint8)
    return np.unpackbits(octets, bitorder="little", count=size).view(np.bool_)
