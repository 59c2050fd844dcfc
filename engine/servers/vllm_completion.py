"""The model of a vLLM server, by its route `/v1/completions`.

Log-probabilities are taken after the grammar of a request, so steps are asked for without one: then they are the
model's own. The server lists the best 20 tokens by default and prices up to 128 named tokens (`logprob_token_ids`). It
has no list of its tokens, so the vocabulary is that of a tokenizer here.

What a request leaves out comes from the model's `generation_config.json` (penalties, top-k, top-p), so all of it is
sent. A server that returns its mask (`--return-sampling-mask`) refuses a temperature of 0 and a request without top-k:
steps are asked for with a temperature of 1 and a top-k beyond any vocabulary, which change nothing. The token that the
server generates is added to a list even if it is none of the best.

**Drawing under a mask.** A worker has room for 1,024 allowed tokens (`allowed_token_ids`) and 1,024 biases in a
request; with more it raises an error that ends the whole server, and nothing before it checks their number. So no more
are ever sent. If more tokens are allowed, those that are not are banned by biases; where these are too many as well, a
token is drawn without a mask, banned if it is not allowed, and drawn again. That is exact as long as no filter counts
the tokens that the mask removes.

Read in the sources of vLLM 0.33.0 and not run: `entrypoints/openai/completion/{protocol,serving}.py`,
`entrypoints/serve/tokenize/protocol.py`, `sampling_params.py`, `v1/worker/gpu/sample/{sampler,states,logit_bias}.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.servers.client import ServerClient, ServerError, UnreadableReplyError
from engine.servers.identity import ServerIdentity
from engine.servers.served_model import NextTokens, check_tokenizer, checked_draw, listed_tokens
from engine.vocabulary import Vocabulary

MOST_LISTED: Final = 20
"""The `--max-logprobs` of a server that names no other."""
MOST_PRICED: Final = 128
MOST_BIASED: Final = 1_024
"""The largest number of allowed tokens, and of biases, of a request."""

MOST_DRAWN: Final = 64
"""The number of tokens that are drawn without a mask until one is allowed."""

_BANNED: Final = -100.0  # the server takes no smaller bias
_ALL: Final = 1 << 20  # more tokens than any vocabulary has: a top-k that keeps them
_NAME: Final = "token_id:"
_LEAST: Final = -9_999.0
"""What the server writes in place of minus infinity."""
_FILTERS: Final = frozenset(("top_k", "top_p", "min_p"))
_NEUTRAL: Final = {
    "top_k": _ALL,
    "top_p": 1.0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


class _Logprobs(msgspec.Struct):
    top_logprobs: list[dict[str, float | None] | None] | None = None


class _Choice(msgspec.Struct):
    logprobs: _Logprobs | None = None
    token_ids: list[int] | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice] = []


class _Tokens(msgspec.Struct):
    tokens: list[int]


class VllmModel:
    """The model of a vLLM server; for the attributes see `ServedModel`.

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
        return self._listed(ids, MOST_LISTED)

    def prices(self, ids: Sequence[int], token_ids: Sequence[int]) -> NextTokens:
        """See `ServedModel`."""
        return self._listed(ids, len(token_ids), logprob_token_ids=list(token_ids)).only(token_ids)

    def draw(self, ids: Sequence[int], allowed: NDArray[np.bool_], sampler: Mapping[str, float]) -> int:
        """Draw with `allowed_token_ids` or biases; see `ServedModel`. The server applies min-p before top-p."""
        address, filters = self._client.address, sampler.keys() & _FILTERS
        if sampler.get("min_p", 0.0) > 0 and sampler.get("top_p", 1.0) < 1:
            raise ServerError("errors.servers.filters", address=address, names="min-p, top-p")
        named, others = np.flatnonzero(allowed).tolist(), np.flatnonzero(~allowed).tolist()
        if len(named) <= MOST_BIASED:
            answer = self._answer(ids, **sampler, allowed_token_ids=named)
            return checked_draw(answer.token_ids or [], allowed, address)
        if len(others) > MOST_BIASED and filters:
            raise ServerError("errors.servers.wide_mask", address=address, allowed=len(named), most=MOST_BIASED)
        banned = others if len(others) <= MOST_BIASED else []
        for _ in range(MOST_DRAWN):
            biases = {str(token_id): _BANNED for token_id in banned}
            drawn = self._answer(ids, **sampler, logit_bias=biases).token_ids or []
            if len(drawn) != 1 or drawn[0] in banned or (0 <= drawn[0] < allowed.shape[0] and allowed[drawn[0]]):
                return checked_draw(drawn, allowed, address)
            banned = [*banned, drawn[0]]
        raise ServerError("errors.servers.rarely_allowed", address=address, count=MOST_DRAWN)

    def encode(self, text: str) -> list[int]:
        """See `ServedModel`."""
        return self._ids_of(prompt=text, add_special_tokens=True) or [min(self.vocabulary.eos_ids, default=0)]

    def encode_chat(self, messages: Sequence[tuple[str, str]], assistant_prefix: str) -> list[int]:
        """See `ServedModel`: the server applies its template; the beginning of the answer is a message to continue."""
        asked = [{"role": role, "content": content} for role, content in messages]
        if not assistant_prefix:
            return self._ids_of(messages=asked, add_generation_prompt=True)
        asked.append({"role": "assistant", "content": assistant_prefix})
        return self._ids_of(messages=asked, add_generation_prompt=False, continue_final_message=True)

    def _listed(self, ids: Sequence[int], count: int, **more: Any) -> NextTokens:
        """Return the tokens that are listed after some ids, the most probable one first.

        Args:
            ids: the ids before them.
            count: their number; the server lists one more where its own token is none of them.
            more: further fields of the request.

        Raises:
            ServerError: none are listed.
        """
        choice = self._answer(ids, **more, logprobs=count, temperature=1.0, return_tokens_as_token_ids=True)
        listed = choice.logprobs.top_logprobs if choice.logprobs is not None else None
        if not listed or not listed[0]:
            raise UnreadableReplyError("errors.servers.no_probabilities", address=self._client.address)
        found = {name.removeprefix(_NAME): price for name, price in listed[0].items() if name.startswith(_NAME)}
        priced = {int(token_id): price for token_id, price in found.items() if token_id.isdecimal()}
        if len(priced) > count and choice.token_ids:
            priced.pop(choice.token_ids[0], None)
        known = [(one, None if price is None or price <= _LEAST else price) for one, price in priced.items()]
        known.sort(key=lambda one: -np.inf if one[1] is None else one[1], reverse=True)
        return listed_tokens(known, self.vocabulary.size)

    def _answer(self, ids: Sequence[int], **more: Any) -> _Choice:
        """Return the answer for the one token that the server generates after some ids."""
        body = {
            "model": self._identity.model,
            "prompt": list(ids),
            "max_tokens": 1,
            "return_token_ids": True,
            "add_special_tokens": False,
            **_NEUTRAL,
        }
        choices = self._client.post_for(_Completion, f"{self._client.openai_path}/completions", body | more).choices
        if not choices:
            raise UnreadableReplyError("errors.servers.no_probabilities", address=self._client.address)
        return choices[0]

    def _ids_of(self, **asked: Any) -> list[int]:
        return self._client.post_for(_Tokens, "/tokenize", {"model": self._identity.model, **asked}).tokens
