"""Masks of all grammars, shared where they are equal, and bounded.

A mask of 131,072 tokens is 16 KB, and many configurations have the same one.
When the bound is reached, all masks are forgotten at once, as lazy automata do
with their states: what is in use is soon back.

Rejected: forgetting the least recently used. It would book every use, and a
use is a copy of half a microsecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from engine.masking.token_automaton import TokenAutomaton

Mask = memoryview
"""int32[words], read only. Copying a memory view takes less than copying an array."""

BUDGET_BYTES = 256 * 1024 * 1024


class MaskCache:
    """Equal masks once, and a bound on all of them."""

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget
        self._masks: dict[int, tuple[bytes, Mask]] = {}
        self._held = 0
        self.users: WeakSet[TokenAutomaton] = WeakSet()

    def share(self, words: npt.NDArray[np.uint32], key: int | None = None) -> Mask:
        """The mask with this content, which is copied where there is none yet.

        Args:
            words: uint32[words], the content.
            key: a number that masks hardly share unless they are equal, where somebody knows one.
        """
        content = words.tobytes()
        if key is None:
            key = hash(content)
        known = self._masks.get(key)
        if known is not None and known[0] == content:
            return known[1]
        if self._held + len(content) > self._budget:
            self.clear()
        mask = memoryview(content).cast("i")
        self._masks.setdefault(key, (content, mask))
        self._held += len(content)
        return mask

    def clear(self) -> None:
        """Forget all masks, those of the states too."""
        self._masks.clear()
        self._held = 0
        for user in list(self.users):
            user.forget_masks()


store = MaskCache()
