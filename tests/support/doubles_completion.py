"""Doubles of vLLM and SGLang that compute over a logit source: their routes for stepping, with what a test replaces.

They check requests and shape answers as the releases do, by their sources: read, not recorded. vLLM 0.33.0:
`entrypoints/openai/completion/{protocol,serving}.py`, `entrypoints/serve/tokenize/protocol.py`, `sampling_params.py`,
`v1/engine/input_processor.py`, `v1/worker/gpu/sample/{sampler,states,logit_bias}.py`. SGLang 0.5.23:
`srt/managers/{io_struct,tokenizer_manager}.py`, `srt/sampling/sampling_params.py`, `srt/layers/sampler.py`,
`srt/entrypoints/{http_server.py,openai/protocol.py,openai/serving_tokenize.py}`. Fields that those servers would ignore
are remembered, so that a test sees a misspelt one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from partial_source import log_probabilities
from random_model import RandomModel
from server_double import DoubleReply, SentRequest

from engine.decoding.sampler import decide
from engine.decoding.values import SamplerSettings
from engine.vocabulary import Vocabulary

END_ID, BEGIN_ID = 0, 1
BYTES_AT = 2
TOKENS = (None, None, *(bytes([byte]) for byte in range(256)), b"ab", b"12")
CONTEXT = 256
VOCABULARY = Vocabulary(TOKENS, [END_ID], {END_ID: "</s>", BEGIN_ID: "<s>"})
IMPOSSIBLE = BYTES_AT + ord("~")

Sampled = dict[str, float]

_MOST_PRICED = 128
_SAMPLING = {
    "temperature": 1.0,
    "top_p": 1.0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
_VLLM_SAMPLING = {**_SAMPLING, "top_k": 0}
_VLLM_FIELDS = {
    *_VLLM_SAMPLING,
    *("model", "prompt", "max_tokens", "seed", "logprobs", "logprob_token_ids", "allowed_token_ids", "logit_bias"),
    *("return_tokens_as_token_ids", "return_token_ids", "add_special_tokens"),
}
_SGLANG_SAMPLING = {**_SAMPLING, "top_k": -1, "min_new_tokens": 0}
_SGLANG_FIELDS = {"input_ids", "sampling_params", "return_logprob", "top_logprobs_num", "token_ids_logprob"}


class ByteModel(RandomModel):
    """A random model over bytes that never writes a tilde."""

    def __init__(self) -> None:
        super().__init__(VOCABULARY)

    def logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        logits = super().logits(ids)
        logits[IMPOSSIBLE] = -np.inf
        return logits

    def encode(self, text: str) -> list[int]:
        return [BEGIN_ID, *plain_ids(text)]


def plain_ids(text: str) -> list[int]:
    return [BYTES_AT + byte for byte in text.encode()]


class RefusedError(Exception):
    """The server answers with 400."""


class CompletionDouble(ABC):
    """The answers of a server; pass it to `served`.

    Attributes:
        model: the logit source behind it.
        key: the key that it wants; empty for none.
        defaults: how it samples where a request does not say.
        forced: the token that it generates in place of its own choice, whatever the mask; None for none.
        fault: the answer in place of a generated one, if it is set.
        ignored: the fields of requests that it did not know and ignored.
    """

    def __init__(self, *, key: str = "") -> None:
        self.model, self.key = ByteModel(), key
        self.defaults: Sampled = {}
        self.forced: int | None = None
        self.fault: DoubleReply | None = None
        self.ignored: set[str] = set()

    def __call__(self, request: SentRequest) -> DoubleReply | Any:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return DoubleReply({"error": "Unauthorized"}, 401)
        if request.method == "GET":
            found = self._about().get(request.path)
            return DoubleReply({"detail": "Not Found"}, 404) if found is None else found
        if request.path == "/tokenize":
            answer = self._tokenize
        elif request.path == self._path:
            if self.fault is not None:
                return self.fault
            answer = self._generate
        else:
            return DoubleReply({"detail": "Not Found"}, 404)
        try:
            return answer(request.body)
        except RefusedError as error:
            return DoubleReply({"error": {"message": str(error), "type": "BadRequestError", "code": 400}}, 400)

    _path: str

    @abstractmethod
    def _about(self) -> Mapping[str, Any]:
        """Return the answers that say what it is, by path."""

    @abstractmethod
    def _tokenize(self, body: dict[str, Any]) -> Any:
        """Return the ids of a text."""

    @abstractmethod
    def _generate(self, body: dict[str, Any]) -> Any:
        """Return one token and what is asked for about it."""

    def _check_fields(self, body: Mapping[str, Any], known: set[str]) -> None:
        self.ignored |= body.keys() - known

    def _drawn(self, logits: NDArray[np.float32], ids: Sequence[int], sampled: Sampled, seed: int) -> int:
        """Return the token that is generated from logits after a mask or biases, with the penalty on the prompt."""
        if self.forced is not None:
            return self.forced
        settings = SamplerSettings(
            repetition_penalty=sampled["repetition_penalty"],
            temperature=sampled["temperature"],
            top_k=int(sampled["top_k"]),
            top_p=sampled["top_p"],
            min_p=sampled["min_p"],
        )
        return decide(logits, np.isfinite(logits), ids, settings).draw(seed, 0)


def best(prices: NDArray[np.float32], count: int) -> list[int]:
    listed: list[int] = np.argsort(-prices, kind="stable")[:count].tolist()
    return listed


def require(condition: object, message: str) -> None:
    if not condition:
        raise RefusedError(message)


class VllmDouble(CompletionDouble):
    """A vLLM with one model.

    Attributes:
        most_listed: its `--max-logprobs`.
        returns_mask: it was started with `--return-sampling-mask`.
        most_biased: the number of allowed tokens and of biases for which a worker has room; more end the server.
        is_dead: it has ended.
    """

    _path = "/v1/completions"

    def __init__(self, *, key: str = "", most_listed: int = 20, returns_mask: bool = False) -> None:
        super().__init__(key=key)
        self.most_listed, self.returns_mask = most_listed, returns_mask
        self.most_biased, self.is_dead = 1_024, False

    def _about(self) -> Mapping[str, Any]:
        model = {"id": "org/m", "object": "model", "owned_by": "vllm", "root": "org/m", "max_model_len": CONTEXT}
        return {"/v1/models": {"object": "list", "data": [model]}, "/version": {"version": "0.33.0"}}

    def _tokenize(self, body: dict[str, Any]) -> Any:
        if "messages" in body:
            known = {"model", "messages", "add_generation_prompt", "continue_final_message", "add_special_tokens"}
            self._check_fields(body, known)
            continues, begins = body.get("continue_final_message", False), body.get("add_generation_prompt", True)
            require(
                not (continues and body.get("add_generation_prompt")),
                "Cannot set both `continue_final_message` and `add_generation_prompt` to True.",
            )
            text = "".join(f"{one['role']}: {one['content']}\n" for one in body["messages"])
            text = text.removesuffix("\n") if continues else f"{text}assistant: " if begins else text
            ids = [BEGIN_ID, *plain_ids(text)]
        else:
            self._check_fields(body, {"model", "prompt", "add_special_tokens", "return_token_strs"})
            ids = [BEGIN_ID] * body.get("add_special_tokens", True) + plain_ids(body["prompt"])
        return {"count": len(ids), "max_model_len": CONTEXT, "tokens": ids, "token_strs": None}

    def _generate(self, body: dict[str, Any]) -> Any:
        self._check_fields(body, _VLLM_FIELDS)
        if body.get("model", "org/m") != "org/m":
            return DoubleReply({"error": {"message": "The model does not exist.", "code": 404}}, 404)
        ids, named, count = body["prompt"], body.get("logprob_token_ids"), body.get("logprobs")
        require(len(ids) + body.get("max_tokens", 16) <= CONTEXT, "This model's maximum context length is 256 tokens.")
        if named is not None:
            require(named, "`logprob_token_ids` must not be an empty list.")
            require(count is not None, "when using `logprob_token_ids`, `logprobs` must be set.")
            require(len(named) <= _MOST_PRICED, "Requested logprob_token_ids is greater than max allowed")
        else:
            require((count or 0) <= self.most_listed, f"greater than max allowed: {self.most_listed}")
        allowed = body.get("allowed_token_ids")
        require(allowed is None or allowed, "allowed_token_ids is not None and empty!")
        every = [*(named or ()), *(allowed or ()), *map(int, body.get("logit_bias") or ())]
        require(all(0 <= one < self.model.width for one in every), "contains out-of-vocab token id!")
        sampled = {name: body.get(name, self.defaults.get(name, value)) for name, value in _VLLM_SAMPLING.items()}
        require(0 <= sampled["temperature"] <= 2, "temperature must be in [0, 2]")
        if self.returns_mask:
            require(sampled["temperature"] > 0, "sampling distribution replay requires temperature > 0")
            require(sampled["top_k"] > 0, "sampling distribution replay requires top_k > 0")
        biases = {int(one): min(100.0, max(-100.0, bias)) for one, bias in (body.get("logit_bias") or {}).items()}
        self.is_dead = self.is_dead or max(len(biases), len(allowed or ())) > self.most_biased
        if self.is_dead:
            return DoubleReply({"error": {"message": "EngineCore encountered an issue.", "code": 500}}, 500)

        logits = self.model.logits(ids)
        prices = log_probabilities(logits)
        if allowed is not None:
            masked = np.full_like(logits, -np.inf)
            masked[allowed] = logits[allowed]
            logits = masked
        for token_id, bias in biases.items():
            logits[token_id] += np.float32(bias)
        drawn = self._drawn(logits, ids, sampled, body.get("seed", 0))
        choice: dict[str, Any] = {"index": 0, "text": "", "finish_reason": "length", "logprobs": None}
        choice["token_ids"] = [drawn] if body.get("return_token_ids") else None
        if count is not None:
            listed = dict.fromkeys([drawn, *(named or best(prices, count))])
            as_id = body.get("return_tokens_as_token_ids")
            top = {f"token_id:{one}" if as_id else chr(one): max(float(prices[one]), -9999.0) for one in listed}
            choice["logprobs"] = {"tokens": [""], "token_logprobs": [None], "text_offset": [0], "top_logprobs": [top]}
        return {"id": "cmpl-1", "object": "text_completion", "model": "org/m", "choices": [choice], "usage": {}}


class SGLangDouble(CompletionDouble):
    """An SGLang with one model; `reads_messages` unless it is an old version, whose `/tokenize` reads texts alone."""

    _path = "/generate"

    def __init__(self, *, key: str = "", reads_messages: bool = True) -> None:
        super().__init__(key=key)
        self.reads_messages = reads_messages

    def _about(self) -> Mapping[str, Any]:
        model = {"id": "org/m", "object": "model", "owned_by": "sglang", "root": "org/m", "max_model_len": CONTEXT}
        about = {"version": "0.5.23", "model_path": "org/m"}
        return {"/v1/models": {"object": "list", "data": [model]}, "/server_info": about}

    def _tokenize(self, body: dict[str, Any]) -> Any:
        known = {"model", "prompt", "add_special_tokens"}
        if self.reads_messages:
            known |= {"messages", "continue_final_message"}
        self._check_fields(body, known)
        require(("prompt" in body) != ("messages" in known & body.keys()), "Exactly one of 'prompt' or 'messages'")
        if "prompt" in body:
            ids = [BEGIN_ID] * body.get("add_special_tokens", True) + plain_ids(body["prompt"])
        else:
            messages = [(one["role"], one["content"]) for one in body["messages"]]
            begin = messages.pop()[1] if body.get("continue_final_message") else ""
            text = "".join(f"{role}: {content}\n" for role, content in messages)
            ids = [BEGIN_ID, *plain_ids(f"{text}assistant: {begin}")]
        return {"tokens": ids, "count": len(ids), "max_model_len": CONTEXT}

    def _generate(self, body: dict[str, Any]) -> Any:
        self._check_fields(body, _SGLANG_FIELDS)
        ids, width = body["input_ids"], self.model.width
        require(ids, "input_ids cannot be empty.")
        require(len(ids) < CONTEXT, "The input is longer than the model's context length (256 tokens).")
        given = {**self.defaults, **body["sampling_params"]}
        unknown = given.keys() - _SGLANG_SAMPLING.keys() - {"max_new_tokens", "logit_bias", "sampling_seed"}
        require(not unknown, f"Unexpected keyword argument {', '.join(unknown)}")
        biases = {int(one): bias for one, bias in (given.get("logit_bias") or {}).items()}
        require(all(0 <= one < width for one in biases), "logit_bias must has keys in the vocabulary")
        sampled = {name: given.get(name, value) for name, value in _SGLANG_SAMPLING.items()}
        if sampled["temperature"] < 1e-6:
            sampled |= {"temperature": 1.0, "top_k": 1}
        require(sampled["top_k"] == -1 or sampled["top_k"] >= 1, "top_k must be -1 (disable) or at least 1")

        logits = self.model.logits(ids)
        for token_id, bias in biases.items():
            logits[token_id] += np.float32(bias)
        prices = log_probabilities(self._penalised(logits, ids, sampled) / np.float32(sampled["temperature"]))
        sampled["top_k"] = max(sampled["top_k"], 0)
        drawn = self._drawn(logits, ids, sampled, given.get("sampling_seed") or 0)
        meta: dict[str, Any] = {"id": "1", "prompt_tokens": len(ids), "completion_tokens": 1, "cached_tokens": 0}
        if body.get("return_logprob"):
            meta["output_token_logprobs"] = [self._entry(prices, drawn)]
            if body.get("top_logprobs_num"):
                meta["output_top_logprobs"] = [[self._entry(prices, n) for n in best(prices, body["top_logprobs_num"])]]
            if named := body.get("token_ids_logprob"):
                require(all(0 <= one < width for one in named), "token_ids_logprob contains out-of-vocabulary token id")
                meta["output_token_ids_logprobs"] = [[self._entry(prices, one) for one in named]]
        return {"text": "", "output_ids": [drawn], "meta_info": meta}

    @staticmethod
    def _penalised(logits: NDArray[np.float32], ids: Sequence[int], sampled: Sampled) -> NDArray[np.float32]:
        changed, seen = logits.copy(), np.unique(ids)
        penalty = np.float32(sampled["repetition_penalty"])
        changed[seen] = np.where(changed[seen] > 0, changed[seen] / penalty, changed[seen] * penalty)
        return changed

    @staticmethod
    def _entry(prices: NDArray[np.float32], token_id: int) -> list[Any]:
        price = float(prices[token_id])
        return [price if np.isfinite(price) else None, token_id, None]
