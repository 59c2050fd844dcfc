"""The same for one request at a time, by the adapter of vLLM's first model runner.

It masks what the processor for the whole batch masks, a row at a time. It is no
entry point, or a request would be masked twice: name it where vLLM is started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

from .masks import masked
from .vllm_plugin import known_grammars
from .vllm_requests import GRAMMAR, Request, follower, validate

if TYPE_CHECKING:
    from vllm.sampling_params import SamplingParams


class OneRequest:
    """Masks the logits of one request; called with its output so far, the same list each time, and its row."""

    def __init__(self, params: SamplingParams) -> None:
        self._params = params
        self._request: Request | None = None

    def __call__(self, output_ids: list[int], logits: torch.Tensor) -> torch.Tensor:
        """The row, masked.

        Args:
            output_ids: what was written.
            logits: float[width].
        """
        if self._request is None:
            self._request = follower(self._params, output_ids, known_grammars())
            assert self._request is not None
        self._request.follow()
        return masked(logits.unsqueeze(0), [self._request.mask()]).squeeze(0)


class GrammarRequestLogitsProcessor(AdapterLogitsProcessor):  # type: ignore[misc]  # as above
    """Gives each request that asks for the grammar a masker of its own."""

    turnstile_grammar = GRAMMAR

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse a request before it runs.

        Raises:
            ValueError: it asks for a grammar that is not there, or for what contradicts one.
        """
        validate(sampling_params, known_grammars())

    def is_argmax_invariant(self) -> bool:
        """False: the likeliest token may be one that is not allowed."""
        return False

    def new_req_logits_processor(self, params: SamplingParams) -> OneRequest | None:
        """A masker; None for a request that does not ask for it."""
        return None if follower(params, [], known_grammars()) is None else OneRequest(params)
