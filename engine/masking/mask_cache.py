"""A bounded cache of masks for all grammars, in which equal masks are stored once.

A mask of 131,072 tokens takes 16 KB, and many configurations have the same one.
When the cache is full, all masks are dropped at once, as lazy automata do with
their states: the masks in use are soon recomputed.

Rejected: dropping the least recently used masks. Every use would need a record,
and a use is a copy that takes half a microsecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from engine.masking.token_automaton import TokenAutomaton

Mask = memoryview
"""int32[words], read only. A memory view is copied faster than an array."""

BUDGET_BYTES = 256 * 1024 * 1024


class MaskCache:
    """A cache that stores equal masks once and is cleared when it outgrows its budget.

    Attributes:
        users: the token automata whose states hold masks of this cache.
    """

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget
        self._masks: dict[int, tuple[bytes, Mask]] = {}
        self._used_bytes = 0
        self.users: WeakSet[TokenAutomaton] = WeakSet()

    def share(self, words: npt.NDArray[np.uint32], key: int | None = None) -> Mask:
        """Return the cached mask with this content, adding a copy if there is none.

        Args:
            words: uint32[words], the content.
            key: a hash of the content; computed if it is None.
        """
        content = words.tobytes()
        if key is None:
            key = hash(content)
        known = self._masks.get(key)
        if known is not None and known[0] == content:
            return known[1]
        if self._used_bytes + len(content) > self._budget:
            self.clear()
        mask = memoryview(content).cast("i")
        self._masks.setdefault(key, (content, mask))
        self._used_bytes += len(content)
        return mask

    def clear(self) -> None:
        """Drop all masks, including those that token states hold."""
        self._masks.clear()
        self._used_bytes = 0
        for user in list(self.users):
            user.forget_masks()


mask_cache = MaskCache()
