"""The grammar on requests that keep a slot: the second model runner of vLLM, the default of late.

A request has a slot for as long as it lives; a slot is told when it gets a new
one, and not when it is empty. Rows of the logits are in another order in each
step, and with speculative decoding a request has several: the first behind what
is written, each further one behind a draft more. What is written lies on the
device; the last id of it is the input of the request's first row, so in most
steps nothing else is fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .masks import mask_rows
from .vllm_requests import Request, follower


class Slots:
    """Masks the rows of those requests that ask for the grammar, and no others.

    Args:
        known: gives the names of all grammars that are loaded.
        states: the engine's `LogitsProcRequestState`: the ids on the device, and the lengths of the prompts.
        pin: whether masks go to the device by pinned memory.
    """

    def __init__(self, known: Callable[[], set[str]], states: Any, *, pin: bool) -> None:
        self._known = known
        self._states = states
        self._pin = pin
        self._requests: dict[int, Request] = {}

    def add_request(self, slot: int, params: Any) -> bool:
        """A request gets a slot; whether its logits are changed here."""
        self._requests.pop(slot, None)
        request = follower(params, [], self._known())
        if request is None:
            return False
        self._requests[slot] = request
        return True

    def apply(self, logits: torch.Tensor, context: Any) -> torch.Tensor:
        """Mask the rows of the requests that ask for it.

        Args:
            logits: float[rows, width]; changed in place.
            context: the engine's `LogitsContext`: of each row its slot, its number among those of its request, the
                id that was fed to the model, and the position of that id.
        """
        if not any(slot in self._requests for slot in context.idx_mapping_np.tolist()):
            return logits
        columns = (context.expanded_idx_mapping, context.expanded_local_pos, context.input_ids, context.pos)
        slots, numbers, ids, positions = torch.stack([column.long() for column in columns]).tolist()
        rows: list[int] = []
        masks: list[bytes] = []
        drafts: dict[int, list[int]] = {}
        for row in sorted(range(len(slots)), key=numbers.__getitem__):
            slot = slots[row]
            request = self._requests.get(slot)
            if request is None:
                continue
            if numbers[row] == 0:
                drafts[slot] = []
                self._write(request, slot, positions[row], ids[row])
            else:
                drafts[slot].append(ids[row])
            rows.append(row)
            masks.append(request.mask(drafts[slot]))
        mask_rows(logits, rows, masks, pin=self._pin)
        return logits

    def _write(self, request: Request, slot: int, position: int, token_id: int) -> None:
        """Bring the output up to the id at a position, which is in the prompt as long as that is being read."""
        first = int(self._states.prompt_len.np[slot])
        length = position + 1 - first
        output = request.output
        if length <= 0:
            output.clear()
        elif length == len(output) + 1:
            output.append(token_id)
        elif length != len(output) or output[-1] != token_id:
            written = self._states.all_token_ids.gpu[slot, first:position]
            output[:] = [*written.tolist(), token_id]
        request.follow()
