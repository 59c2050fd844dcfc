"""The mask of a vLLM server that was started with `--return-sampling-mask` and `--enable-scale-out`.

Its route `/inference/v1/generate` then returns the ids that could be drawn at each step: those that the grammar, top-k
and top-p leave. With a top-k beyond any vocabulary these are the mask. It takes the engine's own sampling parameters,
so a bias is not reduced to 100 as on OpenAI's routes; a worker has room for 1,024 of them. Its parameter that forces a
run (`trace_decode_token_ids`) is refused beside a grammar.

Read in the sources of vLLM 0.33.0 and not run: `entrypoints/scale_out/token_in_token_out/{protocol,serving}.py`,
`sampling_params.py`, `config/vllm.py`, `v1/worker/gpu/sample/{sampler,output,penalties,logit_bias}.py`.

**Steering.** vLLM raises tokens by biases, which are the same at each step, and lowers those that were generated before
by a penalty. So the tokens of the run are put in an order in which the wanted token of each step precedes the others
that are allowed there; an unused token precedes every used one. Which are allowed, each answer tells as far as it
follows the run; the next request knows more. A run that needs a used token before an unused one, or two in both orders,
or that has more tokens than the penalty separates, cannot be steered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

import numpy as np

from engine.servers.client import RefusedRequestError, ServerClient, ServerError, UnreadableReplyError
from engine.servers.grammar_form import GrammarForm
from engine.servers.identity import ServerIdentity
from engine.servers.server_mask import Ids, ServerMask, Unread
from engine.source.text import common_length
from engine.vocabulary import Vocabulary

_TIMEOUT_S: Final = 600.0
_GAP: Final = 1_000.0  # between biases: more than any two logits of a model differ
_USED: Final = 1_000.0  # divides the logits of tokens that were generated
_MOST_LEVELS: Final = 999  # the bias of the last one, divided by the penalty, is below that of the first
_ALL: Final = 1 << 20  # more tokens than any vocabulary has
_ROUTE: Final = "/inference/v1/generate"


class VllmMaskReader:
    """The `ServerMaskReader` of vLLM.

    Args:
        client: the server.
        identity: what it says of itself.
        vocabulary: the vocabulary of the runs.
    """

    def __init__(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary) -> None:
        self._client, self._identity, self._vocabulary = client, identity, vocabulary

    @property
    def end_ids(self) -> frozenset[int]:
        """See `ServerMaskReader`: vLLM allows the ids of the model's own tokenizer."""
        return self._vocabulary.eos_ids

    def constraint(self, form: GrammarForm, text: str) -> Mapping[str, Any]:
        """See `ServerMaskReader`: each form has a field of `structured_outputs`."""
        if form is GrammarForm.JSON_SCHEMA:
            return {"structured_outputs": {"json": json.loads(text)}}
        return {"structured_outputs": {form: text}}

    def read(
        self, constraint: Mapping[str, Any], ids: Sequence[int], positions: Sequence[int]
    ) -> dict[int, ServerMask]:
        """Return the masks at some positions; see `ServerMaskReader`."""
        wanted, found = list(ids[: max(positions)]), dict[int, ServerMask]()
        rivals: dict[int, set[int]] = {token_id: set() for token_id in wanted}
        unread = Unread.STEERING
        while len(rivals) <= _MOST_LEVELS:
            try:
                order = list(TopologicalSorter(rivals).static_order())  # rivals first
            except CycleError:
                break
            drawn, masks = self._run(constraint, wanted, order)
            reached = common_length(drawn, wanted)
            found |= {at: ServerMask(mask) for at, mask in enumerate(masks[: reached + 1])}
            if reached == len(wanted):
                break
            if wanted[reached] not in masks[reached]:
                unread = Unread.LEFT
                break
            if not _add_rivals(rivals, wanted[: reached + 1], masks):
                break
        nothing = ServerMask(np.empty(0, np.int64), unread)
        return {position: found.get(position, nothing) for position in positions}

    def _run(
        self, constraint: Mapping[str, Any], wanted: Sequence[int], order: Sequence[int]
    ) -> tuple[list[int], list[Ids]]:
        """Return the drawn ids, and the ids that could be drawn at each step.

        Args:
            constraint: the fields of a request that ask for the grammar.
            wanted: the tokens of the run.
            order: its distinct tokens, those first that others must precede.
        """
        body = {
            "model": self._identity.model,
            "token_ids": [next(token_id for token_id in range(len(order) + 1) if token_id not in order)],
            "reasoning_ended": True,
            "sampling_params": {
                **constraint,
                "max_tokens": len(wanted) + 1,
                "temperature": 1.0,
                "repetition_penalty": _USED,
                "top_k": _ALL,
                "logit_bias": {str(token_id): level * _GAP * _USED for level, token_id in enumerate(order, 1)},
            },
        }
        try:
            reply = self._client.post(_ROUTE, body, timeout=_TIMEOUT_S)
        except RefusedRequestError as error:
            if error.status == 404:
                raise ServerError("errors.servers.no_sampling_mask", address=self._client.address) from error
            raise
        try:
            choice = reply["choices"][0]
            drawn, masks = list(choice["token_ids"]), choice.get("sampling_mask")
            if masks is None:
                raise ServerError("errors.servers.no_sampling_mask", address=self._client.address)
            found = [np.unique(np.array(mask, np.int64)) for mask in masks]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise UnreadableReplyError("errors.servers.no_probabilities", address=self._client.address) from error
        for mask in found:
            if mask.size and not (mask[0] >= 0 and mask[-1] < self._vocabulary.size):
                raise ServerError("errors.servers.other_vocabulary_bytes", id=int(mask[-1]))
        if len(found) < len(drawn):
            raise UnreadableReplyError("errors.servers.no_probabilities", address=self._client.address)
        return drawn, found


def _add_rivals(rivals: dict[int, set[int]], run: Sequence[int], masks: Sequence[Ids]) -> bool:
    """Add the tokens that each token of a run must precede; return False if that is impossible, or nothing is new.

    Args:
        rivals: for each token, those that it must precede.
        run: the tokens.
        masks: the ids that could be drawn at each step.
    """
    used: set[int] = set()
    is_new = False
    for token_id, mask in zip(run, masks, strict=False):
        for rival in rivals.keys() & set(mask.tolist()) - {token_id}:
            if (rival in used) == (token_id in used):
                is_new = is_new or rival not in rivals[token_id]
                rivals[token_id].add(rival)
            elif token_id in used:
                return False
        used.add(token_id)
    return is_new
