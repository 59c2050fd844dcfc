"""The grammar on a batch whose places move: the first model runner of vLLM, V1.

In each step it calls `update_state` and then `apply`. Requests have a place in
the batch, which changes as others come and go: an update tells who was removed,
then who was added, then who was moved, and holds in this order only. The list
of a request's output ids is handed over once and stays the engine's own, so a
step without an update (`None`) still has new ids in it.

Under asynchronous scheduling the last id is a placeholder (-1) until the
forward pass is over. So ids are followed in both calls; `apply` sees them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from .masks import mask_rows
from .vllm_requests import Request, follower

if TYPE_CHECKING:
    from vllm.v1.sample.logits_processor import BatchUpdate


class Batch:
    """Masks the rows of those requests that ask for the grammar, and no others.

    Args:
        known: gives the names of all grammars that are loaded.
        pin: whether masks go to the device by pinned memory.
    """

    def __init__(self, known: Callable[[], set[str]], *, pin: bool) -> None:
        self._known = known
        self._pin = pin
        self.requests: dict[int, Request] = {}

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow the batch, then the ids that were written."""
        if batch_update is not None:
            for index in batch_update.removed:
                self.requests.pop(index, None)
            for index, params, _, output in batch_update.added:
                self.requests.pop(index, None)
                request = follower(params, output, self._known())
                if request is not None:
                    self.requests[index] = request
            for one, other, direction in batch_update.moved:
                self._move(one, other, is_swap=direction.name == "SWAP")
        for request in self.requests.values():
            request.follow()

    def _move(self, one: int, other: int, *, is_swap: bool) -> None:
        moved, replaced = self.requests.pop(one, None), self.requests.pop(other, None)
        if moved is not None:
            self.requests[other] = moved
        if is_swap and replaced is not None:
            self.requests[one] = replaced

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Mask the rows of the requests that ask for it.

        Args:
            logits: float[requests, width]; changed in place.
        """
        if not self.requests:
            return logits
        for request in self.requests.values():
            request.follow()
        rows = sorted(self.requests)
        mask_rows(logits, rows, [self.requests[row].mask() for row in rows], pin=self._pin)
        return logits
