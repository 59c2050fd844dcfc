"""The model of an SGLang server, by its route `/generate`.

Log-probabilities are taken after the mask and the temperature of a request, so steps are asked for without a grammar
and with a temperature of 1. The server lists as many tokens as are asked for and prices named ones. It draws under a
mask that is given as biases: allowed tokens are raised if they are few, else the others are lowered. It has no list of
its tokens, so the vocabulary is that of a tokenizer here.

What the sampling parameters leave out may come from the server (`--preferred-sampling-params`), so all of it is sent:
some versions take log-probabilities after top-p as well. The token that the server generates is in a list of its own.

A seed counts only on a server with `--enable-deterministic-inference`. Since a version after 0.5.10, `/tokenize` also
takes messages and applies the chat template; an earlier one refuses them.

Read in the sources of SGLang 0.5.23 and not run: `srt/managers/{io_struct,tokenizer_manager,scheduler}.py`,
`srt/sampling/{sampling_params,sampling_batch_info}.py`, `srt/layers/sampler.py`,
`srt/entrypoints/{http_server.py,openai/protocol.py,openai/serving_tokenize.py}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.servers.client import RefusedRequestError, ServerClient, ServerError, UnreadableReplyError
from engine.servers.identity import ServerIdentity
from engine.servers.served_model import NextTokens, check_tokenizer, checked_draw, listed_tokens
from engine.vocabulary import Vocabulary

MOST_LISTED: Final = 100
"""The number of tokens of an answer; the server has no limit."""
MOST_PRICED: Final = 1_024

_BIAS: Final = 1_000.0  # more than any two logits of a model differ, and small enough for float32

_INVALID: Final = (400, 422)
_NEUTRAL: Final = {
    "temperature": 1.0,
    "top_k": -1,
    "top_p": 1.0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "min_new_tokens": 0,
}

_Entry = tuple[float | None, int, str | None]


class _Meta(msgspec.Struct):
    output_top_logprobs: list[list[_Entry] | None] | None = None
    output_token_ids_logprobs: list[list[_Entry] | None] | None = None
    cached_tokens: int | None = None


class _Generated(msgspec.Struct):
    output_ids: list[int] | None = None
    meta_info: _Meta = msgspec.field(default_factory=_Meta)


class _Tokens(msgspec.Struct):
    tokens: list[int]


class SGLangModel:
    """The model of an SGLang server; for the attributes see `ServedModel`.

    Args:
        client: the server.
        identity: what it says of itself.
        vocabulary: that of its tokenizer.
    """

    most_priced = MOST_PRICED

    def __init__(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary) -> None:
        self._client, self._identity, self.vocabulary = client, identity, vocabulary
        self.most_prompt = None if identity.context_length is None else identity.context_length - 1
        check_tokenizer(vocabulary, lambda text: self._ids_of(prompt=text, add_special_tokens=False))

    def next_tokens(self, ids: Sequence[int]) -> NextTokens:
        """See `ServedModel`."""
        answer = self._answer(ids, {}, return_logprob=True, top_logprobs_num=MOST_LISTED)
        return self._listed(answer, answer.meta_info.output_top_logprobs)

    def prices(self, ids: Sequence[int], token_ids: Sequence[int]) -> NextTokens:
        """See `ServedModel`."""
        answer = self._answer(ids, {}, return_logprob=True, token_ids_logprob=list(token_ids))
        return self._listed(answer, answer.meta_info.output_token_ids_logprobs).only(token_ids)

    def draw(self, ids: Sequence[int], allowed: NDArray[np.bool_], sampler: Mapping[str, float]) -> int:
        """Draw with biases; see `ServedModel`. The server applies several filters to one distribution together."""
        is_on = {
            "top-k": sampler.get("top_k", 0) > 0,
            "top-p": sampler.get("top_p", 1.0) < 1,
            "min-p": sampler.get("min_p", 0.0) > 0,
        }
        if sum(is_on.values()) > 1:
            names = ", ".join(name for name, on in is_on.items() if on)
            raise ServerError("errors.servers.filters", address=self._client.address, names=names)
        raised = 2 * int(np.count_nonzero(allowed)) <= allowed.shape[0]
        biased = np.flatnonzero(allowed if raised else ~allowed).tolist()
        settings: dict[str, Any] = {name: value for name, value in sampler.items() if name not in ("seed", "top_k")}
        if is_on["top-k"]:
            settings["top_k"] = int(sampler["top_k"])
        settings["sampling_seed"] = int(sampler.get("seed", 0))
        settings["logit_bias"] = {str(token_id): _BIAS if raised else -_BIAS for token_id in biased}
        return checked_draw(self._answer(ids, settings).output_ids or [], allowed, self._client.address)

    def encode(self, text: str) -> list[int]:
        """See `ServedModel`."""
        return self._ids_of(prompt=text, add_special_tokens=True) or [min(self.vocabulary.eos_ids, default=0)]

    def encode_chat(self, messages: Sequence[tuple[str, str]], assistant_prefix: str) -> list[int]:
        """See `ServedModel`: the server applies its template; the beginning of the answer is a message to continue."""
        asked = [{"role": role, "content": content} for role, content in messages]
        if assistant_prefix:
            asked.append({"role": "assistant", "content": assistant_prefix})
        try:
            return self._ids_of(messages=asked, continue_final_message=bool(assistant_prefix))
        except RefusedRequestError as error:
            if error.status not in _INVALID:
                raise
            raise ServerError("errors.servers.no_template", address=self._client.address) from error

    def _listed(self, answer: _Generated, listed: list[list[_Entry] | None] | None) -> NextTokens:
        if not listed or not listed[0]:
            raise UnreadableReplyError("errors.servers.no_probabilities", address=self._client.address)
        priced = [(token_id, price) for price, token_id, _ in listed[0]]
        return listed_tokens(priced, self.vocabulary.size, answer.meta_info.cached_tokens)

    def _answer(self, ids: Sequence[int], sampling: Mapping[str, Any], **more: Any) -> _Generated:
        """Return the answer for the one token that the server generates after some ids."""
        body = {"input_ids": list(ids), "sampling_params": {"max_new_tokens": 1, **_NEUTRAL, **sampling}, **more}
        return self._client.post_for(_Generated, "/generate", body)

    def _ids_of(self, **asked: Any) -> list[int]:
        return self._client.post_for(_Tokens, "/tokenize", {"model": self._identity.model, **asked}).tokens
