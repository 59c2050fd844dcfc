"""The model of a llama-server, by its route `/completion`.

The server returns as many tokens of a distribution as are asked for. The whole of it is 5 MB for 49,152 tokens, and the
server takes longest to write them; the best 500 are 44 KB. So a step reads those, and all of them only where nothing
less is enough. Log-probabilities are the model's own: bias, grammar and temperature do not change them. With
`post_sampling_probs` and no samplers they are those under the biases, so biases as a mask give the best allowed tokens.

The first answer is whole and has the bytes of each token, so no tokenizer is needed. Control tokens have none there;
`/detokenize` has their names. What ends an output is what the server allows under a grammar of the empty text: its
`logit_bias` on another token makes the first draw illegal, and after that its answer lists the allowed tokens alone.

An answer has no probabilities if the drawn token is a part of a character, whose text the server holds back. So a bias
makes it draw another one.

Our mask is enforced by biases where the server itself draws. It answers with some token even if all are banned, so a
drawn token is checked.

Rejected: `/v1/completions`, which has the same fields and no control over the samplers' order; biases as an object,
which take forty times as long as a list.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.servers.client import ServerClient, ServerError, UnreadableReplyError
from engine.servers.grammar_form import GrammarForm
from engine.servers.identity import ServerIdentity
from engine.servers.served_model import NextTokens, StreamedToken, checked_draw, listed_tokens
from engine.vocabulary import Vocabulary

MOST_LISTED: Final = 500
"""The number of tokens of a quick answer."""

_ALL: Final = 10_000_000  # more tokens than any vocabulary has: the server lists all
_FIELDS: Final = ("tokens", "completion_probabilities", "timings/cache_n")
_NAMES_AT_ONCE: Final = 256
_BIAS: Final = 10_000.0  # makes a token certain, whatever the temperature
_RAISED: Final = 64.0  # so far above the others that they have no share, and little enough for float32
_DRAWS: Final = 4
_STREAM_TIMEOUT_S: Final = 3_600.0
_FLAT: Final = 100.0  # a temperature at which no allowed token has a probability that rounds to 0


class _Token(msgspec.Struct):
    id: int
    logprob: float | None = None
    prob: float = 0.0
    bytes: list[int] = []


class _Generated(msgspec.Struct):
    top_logprobs: list[_Token] = []
    top_probs: list[_Token] = []


class _Completion(msgspec.Struct):
    tokens: list[int] = []
    generated: list[_Generated] = msgspec.field(name="completion_probabilities", default_factory=list)
    reused: int | None = msgspec.field(name="timings/cache_n", default=None)
    tokens_predicted: int = 0

    @property
    def listed(self) -> list[_Token]:
        """The best tokens of the distribution; none if there is no such list."""
        if not self.generated:
            return []
        return self.generated[0].top_logprobs or self.generated[0].top_probs


class _Ids(msgspec.Struct):
    tokens: list[int]


class _Content(msgspec.Struct):
    content: str


class _Prompt(msgspec.Struct):
    prompt: str


class LlamaModel:
    """The model of a llama-server; for the attributes see `ServedModel`.

    Args:
        client: the server.
        identity: what it says of itself.
    """

    def __init__(self, client: ServerClient, identity: ServerIdentity) -> None:
        self._client = client
        # One id must be left for the token that is drawn.
        self.most_prompt = None if identity.context_length is None else identity.context_length - 1
        named = client.get("/props")
        self._whole_id = self._ids_of("a", add_special=False)[-1]
        self._begin_id = self._first_id("") or self._first_id(named.get("bos_token"))
        self.vocabulary = self._read_vocabulary(self._first_id(named.get("eos_token")))
        self.most_priced = self.vocabulary.size

    def next_tokens(self, ids: Sequence[int]) -> NextTokens:
        """See `ServedModel`."""
        return self._listed(ids, MOST_LISTED)

    def prices(self, ids: Sequence[int], token_ids: Sequence[int]) -> NextTokens:
        """See `ServedModel`: the answer is the whole distribution, since the server prices no named tokens."""
        return self._listed(ids, self.vocabulary.size)

    def draw(self, ids: Sequence[int], allowed: NDArray[np.bool_], sampler: Mapping[str, float]) -> int:
        """Ban all other tokens by biases; see `ServedModel`."""
        banned = np.flatnonzero(~allowed[: self.vocabulary.size]).tolist()
        filters = [name for name in sampler if name != "seed"]
        biases = [[token_id, False] for token_id in banned]
        answer = self._answer(ids, 0, **sampler, samplers=filters, logit_bias=biases)
        return checked_draw(answer.tokens, allowed, self._client.address)

    def shares(self, ids: Sequence[int], allowed: NDArray[np.bool_], count: int) -> NextTokens:
        """Ban the other tokens by biases, or raise these if they are fewer; see `SharesUnderMask`."""
        size = self.vocabulary.size
        chosen, others = np.flatnonzero(allowed[:size]).tolist(), np.flatnonzero(~allowed[:size]).tolist()
        raises = len(chosen) < len(others)
        biases = [[one, _RAISED] for one in chosen] if raises else [[one, False] for one in others]
        sampler = {"temperature": 1.0, "samplers": (), "post_sampling_probs": True, "logit_bias": biases}
        listed: list[_Token] = []
        for seed in range(
            _DRAWS
        ):  # a draw that ends within a character has no list, and another seed draws another one
            answer = self._answer(ids, min(count, len(chosen)), seed=seed, **sampler)
            if listed := answer.listed:
                break
        found = [(one.id, math.log(one.prob)) for one in listed if one.prob > 0 and 0 <= one.id < size]
        masked = [token_id for token_id, _ in found if not allowed[token_id]]
        if masked and not raises:
            raise ServerError("errors.servers.mask_ignored", address=self._client.address, ids=masked)
        return listed_tokens([one for one in found if allowed[one[0]]], size, answer.reused)

    def stream(
        self, ids: Sequence[int], most: int, form: GrammarForm | None, grammar: str
    ) -> Generator[StreamedToken, None, None]:
        """Generate until a token ends within a character, of which the server sends nothing; see `StreamsTokens`."""
        body = self._body(ids, MOST_LISTED, n_predict=most, stream=True, temperature=0.0)
        if form is not None:
            body[form] = json.loads(grammar) if form is GrammarForm.JSON_SCHEMA else grammar
        events = self._client.stream("/completion", body, timeout=_STREAM_TIMEOUT_S)
        with closing(events):
            for count, event in enumerate(events, 1):
                try:
                    answer = msgspec.convert(event, _Completion)
                except msgspec.ValidationError as error:
                    raise UnreadableReplyError("errors.servers.not_json", text=str(error)) from error
                if answer.tokens_predicted != count or len(answer.tokens) != 1 or not answer.listed:
                    return
                yield StreamedToken(self._next_tokens(answer, MOST_LISTED), answer.tokens[0])

    def encode(self, text: str) -> list[int]:
        """See `ServedModel`."""
        ids = self._ids_of(text)
        if ids and ids[-1] in self.vocabulary.eos_ids:
            plain = self._ids_of(text, add_special=False)
            if plain[-1:] != ids[-1:]:
                ids = ids[:-1]  # some models add an EOS, after which another text would begin
        while ids[:2] == [self._begin_id, self._begin_id]:
            ids = ids[1:]
        return ids or self._empty_prompt()

    def encode_chat(self, messages: Sequence[tuple[str, str]], assistant_prefix: str) -> list[int]:
        """See `ServedModel`: the server applies its template."""
        asked = [{"role": role, "content": content} for role, content in messages]
        prompt = self._client.post_for(_Prompt, "/apply-template", {"messages": asked}).prompt
        return self.encode(prompt + assistant_prefix)

    def _listed(self, ids: Sequence[int], count: int) -> NextTokens:
        return self._next_tokens(self._distribution(ids, count), count)

    def _next_tokens(self, answer: _Completion, count: int) -> NextTokens:
        size, priced = self.vocabulary.size, [(one.id, one.logprob) for one in answer.listed]
        return listed_tokens(priced, size, answer.reused, is_whole=count >= size)

    def _distribution(self, ids: Sequence[int], count: int, **more: Any) -> _Completion:
        """Return the answer with the best tokens after some ids; see `_answer`.

        Raises:
            ServerError: there is none.
        """
        answer = self._answer(ids, count, **{"temperature": 0.0, "logit_bias": [[self._whole_id, _BIAS]], **more})
        if not answer.listed:
            raise UnreadableReplyError("errors.servers.no_probabilities", address=self._client.address)
        return answer

    def _answer(self, ids: Sequence[int], count: int, **more: Any) -> _Completion:
        """Return the answer for the one token that the server generates.

        Args:
            ids: the ids before it.
            count: the number of tokens to list.
            more: further fields of the request.

        Raises:
            ServerError: there is none.
        """
        return self._client.post_for(_Completion, "/completion", self._body(ids, count, **more))

    def _body(self, ids: Sequence[int], count: int, **more: Any) -> dict[str, Any]:
        """Return the body of a request; see `_answer`."""
        body = {
            "prompt": list(ids),
            "n_predict": 1,
            "n_probs": count,
            "cache_prompt": True,
            "return_tokens": True,
            "response_fields": _FIELDS,
        }
        return {**body, **more}

    def _ids_of(self, text: str, *, add_special: bool = True) -> list[int]:
        body = {"content": text, "add_special": add_special, "parse_special": True}
        return self._client.post_for(_Ids, "/tokenize", body).tokens

    def _first_id(self, text: object) -> int | None:
        """Return the first id of a text; None if it has none."""
        return next(iter(self._ids_of(text)), None) if isinstance(text, str) else None

    def _empty_prompt(self) -> list[int]:
        begins = (self._begin_id, *sorted(self.vocabulary.eos_ids))
        return next(([token_id] for token_id in begins if token_id is not None), [0])

    def _read_vocabulary(self, eos_id: int | None) -> Vocabulary:
        """Read the bytes of all tokens, the names of those that have none, and the ids that end an output."""
        listed = self._distribution([self._begin_id or 0], _ALL).listed
        by_id = {one.id: bytes(one.bytes) or None for one in listed if one.id >= 0}
        texts = [by_id.get(token_id) for token_id in range(max(by_id, default=0) + 1)]
        names = self._names([token_id for token_id, text in enumerate(texts) if text is None], texts)
        return Vocabulary(texts, self._end_ids(texts, eos_id), names)

    def _names(self, ids: Sequence[int], texts: Sequence[bytes | None]) -> dict[int, str]:
        """Return the names of tokens that have no bytes; those that have no name either are left out.

        Args:
            ids: the ids of the tokens.
            texts: the bytes of each id of the vocabulary.
        """
        found: list[str] = []
        between = texts.index(b"\n") if b"\n" in texts else None
        for at in range(0, len(ids), _NAMES_AT_ONCE):
            part = ids[at : at + _NAMES_AT_ONCE]
            names: list[str] = []
            if between is not None:
                names = self._text_of([token for one in part for token in (one, between)]).split("\n")[:-1]
            found += names if len(names) == len(part) else [self._text_of([one]) for one in part]
        return {token_id: name for token_id, name in zip(ids, found, strict=True) if name}

    def _text_of(self, ids: Sequence[int]) -> str:
        return self._client.post_for(_Content, "/detokenize", {"tokens": ids}).content

    def _end_ids(self, texts: Sequence[bytes | None], eos_id: int | None) -> frozenset[int]:
        """Return the ids that the server lets end an output: those that a grammar of the empty text allows.

        Args:
            texts: the bytes of each id.
            eos_id: the one that the server names, for a version that lists other tokens here.
        """
        answer = self._distribution(
            [self._whole_id],
            _ALL,
            grammar='root ::= ""',
            samplers=["temperature"],
            temperature=_FLAT,
            post_sampling_probs=True,
        )
        allowed = frozenset(one.id for one in answer.listed if 0 <= one.id < len(texts))
        if allowed and not any(texts[token_id] for token_id in allowed):
            return allowed
        return frozenset() if eos_id is None else frozenset((eos_id,))
