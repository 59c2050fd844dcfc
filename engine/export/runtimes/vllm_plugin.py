"""The grammar as a logits processor of vLLM, for either of its model runners.

The two runners call a processor in different ways, load it from the same entry
point, and refuse one that is not theirs. So this class is both: the first runner
makes it with a device and calls `update_state`, the second makes it with its
request states and calls `add_request`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from vllm.v1.sample.logits_processor import LogitsProcessor

from .vllm_batch import Batch
from .vllm_requests import GRAMMAR, validate
from .vllm_slots import Slots

try:
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as _SlotLogitsProcessor
except ImportError:  # a release without the second runner
    _BASES: tuple[type, ...] = (LogitsProcessor,)
else:
    _BASES = (LogitsProcessor, _SlotLogitsProcessor)

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.sampling_params import SamplingParams
    from vllm.v1.sample.logits_processor import BatchUpdate


def known_grammars() -> set[str]:
    """The names of all grammars whose packages this process has loaded, of either form."""
    found, todo = {GRAMMAR}, [LogitsProcessor]
    while todo:
        for one in todo.pop().__subclasses__():
            todo.append(one)
            found.add(getattr(one, "turnstile_grammar", GRAMMAR))
    return found


class GrammarLogitsProcessor(*_BASES):  # type: ignore[misc]  # which bases there are shows where it runs
    """Masks the rows of those requests that ask for the grammar, and no others.

    Args:
        vllm_config: the engine's configuration.
        place: the device, or the second runner's request states.
        is_pin_memory: given by the first runner only.
    """

    turnstile_grammar = GRAMMAR

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse a request before it runs.

        Raises:
            ValueError: it asks for a grammar that is not there, or for what contradicts one.
        """
        validate(sampling_params, known_grammars())

    def __init__(self, vllm_config: VllmConfig, place: Any, is_pin_memory: bool | None = None) -> None:
        device = torch.device(getattr(place, "device", place))
        pin = device.type == "cuda" and is_pin_memory is not False
        self._batch = Batch(known_grammars, pin=pin)
        self._slots = Slots(known_grammars, place, pin=pin)

    def is_argmax_invariant(self) -> bool:
        """False: the likeliest token may be one that is not allowed, so greedy sampling needs the mask too."""
        return False

    def needs_output_token_ids(self) -> bool:
        """True: releases of vLLM that ask fill in the placeholders then."""
        return True

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """The first runner: follow the batch, then the ids that were written."""
        self._batch.update_state(batch_update)

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        """The second runner: a request gets a slot; whether its logits are changed here."""
        return self._slots.add_request(req_idx, sampling_params)

    def apply_staged_writes(self) -> None:
        """The second runner: nothing is kept on the device."""

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        """Mask the rows of the requests that ask for it.

        Args:
            logits: float[rows, width]; changed in place.
            ctx: the second runner's layout of the rows.
        """
        return self._batch.apply(logits) if ctx is None else self._slots.apply(logits, ctx)
