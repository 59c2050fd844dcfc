"""A double of llama-server over a logit source: its routes for stepping, with what a test replaces.

The answers have the fields that a real server of b11549 gave (`tests/engine/servers/test_llama_server.py` asks one).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from random_model import RandomModel
from server_double import DoubleReply, SentRequest, served

TOKENS = [None, None, *(bytes([byte]) for byte in range(32, 127)), b"\n", b" the", b"ab"]
NAMES = {0: "<s>", 1: "</s>"}
END_ID = 1


class LlamaDouble:
    """The answers of a server; pass it to `served`.

    Attributes:
        model: the logit source behind it.
        name: the name of its model.
        key: the key that it wants; empty for none.
        fault: answers in place of the model's, if it is set.
        stream_breaks_off_at: the number of bytes after which the connection of a stream ends, if it is set.
    """

    def __init__(self, model: RandomModel | None = None, *, name: str = "m.gguf", key: str = "") -> None:
        self.model = model or RandomModel(width=len(TOKENS))
        self.name, self.key = name, key
        self.fault: DoubleReply | None = None
        self.stream_breaks_off_at: int | None = None
        self._computed: tuple[int, ...] = ()

    def __call__(self, request: SentRequest) -> DoubleReply | Any:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return DoubleReply(_error(401, "Invalid API Key"), 401)
        if self.fault is not None and request.path == "/completion":
            return self.fault
        route = getattr(self, f"_{request.path.removeprefix('/v1').strip('/').replace('-', '_')}", None)
        return route(request.body) if route else DoubleReply(_error(404, "File Not Found"), 404)

    def _props(self, _body: Any) -> Any:
        settings = {"n_ctx": 256, "params": {}}
        return {
            "default_generation_settings": settings,
            "build_info": "b11549-0",
            "model_path": f"/models/{self.name}",
            "chat_template": "{{ messages }}",
            "bos_token": NAMES[0],
            "eos_token": NAMES[END_ID],
        }

    def _models(self, _body: Any) -> Any:
        meta = {"n_vocab": len(TOKENS), "n_params": 1000, "size": 4000, "n_ctx": 256}
        return {"object": "list", "data": [{"id": self.name, "owned_by": "llamacpp", "meta": meta}]}

    def _tokenize(self, body: Any) -> Any:
        text, ids = body["content"], [0] if body["add_special"] else []
        for token_id, name in NAMES.items():
            if text == name:
                return {"tokens": [*ids, token_id]}
        return {"tokens": [*ids, *(TOKENS.index(bytes([byte])) for byte in text.encode())]}

    def _detokenize(self, body: Any) -> Any:
        return {"content": "".join(NAMES.get(one) or TOKENS[one].decode() for one in body["tokens"])}

    def _apply_template(self, body: Any) -> Any:
        return {"prompt": "".join(message["content"] for message in body["messages"])}

    def _completion(self, body: Any) -> Any:
        if not body.get("stream"):
            return self._generated(body)
        events, ids = [], list(body["prompt"])
        for count in range(1, body["n_predict"] + 1):
            event = self._generated({**body, "prompt": ids})
            events.append({**event, "stop": False, "tokens_predicted": count})
            ids += event["tokens"]
            if ids[-1] == END_ID:
                break
        return DoubleReply(events=(*events, {"stop": True, "tokens": []}), breaks_off_at=self.stream_breaks_off_at)

    def _generated(self, body: Any) -> Any:
        ids = tuple(body["prompt"])
        logits = self.model.logits(ids).astype(np.float64)
        prices = logits - np.logaddexp.reduce(logits)
        reused = sum(mine == theirs for mine, theirs in zip(ids[:-1], self._computed, strict=False))
        self._computed = ids
        if "grammar" in body and not body.get("stream"):  # that of the empty text
            listed = [_entry(END_ID) | {"prob": 1.0}]
            return {"completion_probabilities": [{**listed[0], "top_probs": listed}], "timings/cache_n": reused}
        biased = prices.copy()
        for token_id, bias in body.get("logit_bias", ()):
            biased[token_id] += -np.inf if bias is False else bias
        drawn = int(np.argmax(biased))
        best = np.lexsort((np.arange(len(prices)), -prices))[: body["n_probs"]].tolist()
        listed = [_entry(token_id) | {"logprob": float(prices[token_id])} for token_id in best]
        found = [{**_entry(drawn), "logprob": float(prices[drawn]), "top_logprobs": listed}] if listed else []
        return {"tokens": [drawn], "completion_probabilities": found, "timings/cache_n": reused}


def _entry(token_id: int) -> dict[str, Any]:
    return {"id": token_id, "token": "", "bytes": list(TOKENS[token_id] or b"")}


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "type": "error"}}


if __name__ == "__main__":  # for long runs of the random user
    with served(LlamaDouble()) as server:
        print(server.address, flush=True)  # noqa: T201
        server.stopping.wait()
