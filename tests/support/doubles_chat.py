"""Doubles of servers that answer chats under a constraint, and that can lie about it.

The requests and responses are those of the releases, by their sources: read, not recorded. vLLM 0.33.0:
`entrypoints/openai/chat_completion/protocol.py`, `entrypoints/generate/base/protocol.py`. SGLang 0.5.23:
`srt/entrypoints/openai/protocol.py`, `srt/managers/io_struct.py`. Ollama 0.32.15: `api/types.go`, `openai/openai.go`,
`server/routes.go`. The model of a double says hello, or copies the text that it is told to write; at a high temperature
it babbles. Under a mask it writes that where it is legal, and else the shortest legal text. A word is a token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from server_double import DoubleReply, SentRequest

HELLO = "hello"
BABBLE = "kre ol pft 77 duum ashk"
THOUGHTS = "The user wants a text. I should write it."
_WORD = re.compile(r"\s*\S+|\s+")
_TOLD = re.compile(r"(?:exactly|this text): ?(.+)", re.DOTALL)


@dataclass(frozen=True)
class ChatDouble:
    """What a double is, and how it lies; called with a request, it answers.

    Attributes:
        kind: `vllm`, `sglang`, `ollama` or `openai`.
        version: its version.
        obeys: whether the constraint of a request is applied.
        weakened: makes the schema that is applied from the one that was sent.
        refuses: the schemas that it refuses.
        shows_schema: the schema is put into the prompt, and the model follows it; there is no mask.
        thinks: `channel` for thoughts in a field of their own, `tags` for thoughts before the answer, or nothing.
        prefix: a text that it writes before the mask.
        error_text: an answer in place of all others, with status 200.
        always: what the model writes in place of hello.
        counts_prompt: whether the response has the number of prompt tokens.
    """

    kind: str = "vllm"
    version: str = "0.33.0"
    obeys: Callable[[SentRequest], bool] = lambda _: True
    weakened: Callable[[Any], Any] = lambda schema: schema
    refuses: Callable[[Any], bool] = lambda _: False
    shows_schema: bool = False
    thinks: str = ""
    prefix: str = ""
    error_text: str = ""
    always: str = HELLO
    counts_prompt: bool = True

    def __call__(self, request: SentRequest) -> Any:
        if request.method == "GET":
            return self._about(request.path)
        if request.path not in self._routes():
            return DoubleReply({"error": {"message": "Not Found", "code": 404}}, 404)
        form, constraint = self._constraint(request.body)
        if form == "json" and self.refuses(constraint):
            return DoubleReply({"error": {"message": "The schema is not supported", "code": 400}}, 400)
        thoughts = THOUGHTS if self._thinks_at(request.body) else ""
        text = self.error_text or self._written(request, form, constraint)
        if thoughts and self.thinks == "tags":
            text, thoughts = f"<think>{thoughts}</think>\n{text}", ""
        prompt = json.dumps(request.body.get("messages") or request.body.get("prompt") or request.body.get("text"))
        count = len(prompt.split()) + (len(json.dumps(constraint)) if self.shows_schema and constraint else 0)
        return self._reply(request.body, text, thoughts, count, is_call="tools" in request.body)

    # --- what it is

    def _about(self, path: str) -> Any:
        owner = {"vllm": "vllm", "sglang": "sglang"}.get(self.kind, "somebody")
        known: dict[str, Any] = {"/v1/models": {"object": "list", "data": [{"id": "m", "owned_by": owner}]}}
        if self.kind == "vllm":
            known["/version"] = {"version": self.version}
        if self.kind == "sglang":
            known["/server_info"] = {"version": self.version}
        if self.kind == "ollama":
            known |= {"/api/version": {"version": self.version}, "/api/tags": {"models": [{"name": "m"}]}}
        return known.get(path, DoubleReply({"error": {"message": "Not Found", "code": 404}}, 404))

    def _routes(self) -> tuple[str, ...]:
        more = {"sglang": ("/generate",), "ollama": ("/api/chat", "/api/generate")}
        return ("/v1/chat/completions", *more.get(self.kind, ()))

    # --- what it is asked for

    def _constraint(self, body: Mapping[str, Any]) -> tuple[str, Any]:
        """Return the form of the constraint, of those that this kind reads, and the constraint."""
        if body.get("tools"):
            return "json", body["tools"][0]["function"]["parameters"]
        if isinstance(body.get("response_format"), dict):
            return "json", body["response_format"]["json_schema"]["schema"]
        places = {
            "vllm": body.get("structured_outputs") or {},
            "sglang": {**body, **body.get("sampling_params", {})},
            "ollama": {"json": body.get("format")},
        }.get(self.kind, {})
        for name in ("json", "json_schema", "regex", "grammar", "ebnf", "choice"):
            if places.get(name):
                value = places[name]
                form = {"json_schema": "json", "ebnf": "grammar"}.get(name, name)
                return form, json.loads(value) if name == "json_schema" else value
        return "", None

    def _thinks_at(self, body: Mapping[str, Any]) -> bool:
        if not self.thinks:
            return False
        return (
            bool(body.get("chat_template_kwargs", {}).get("enable_thinking", True)) and body.get("think") is not False
        )

    # --- what it writes

    def _written(self, request: SentRequest, form: str, constraint: Any) -> str:
        settings = {**request.body, **request.body.get("options", {}), **request.body.get("sampling_params", {})}
        messages = request.body.get("messages")
        prompt = messages[-1]["content"] if messages else request.body.get("prompt", request.body.get("text", ""))
        told = _TOLD.search(prompt)
        free = told[1] if told else self.always
        if settings.get("temperature", 1) > 1:
            free = BABBLE
        elif self.shows_schema and constraint is not None:
            free = _shortest(form, constraint)
        if constraint is None or self.shows_schema or not self.obeys(request):
            return free
        applied = self.weakened(constraint) if form == "json" else constraint
        return self.prefix + (free if _is_legal(form, applied, free) else _shortest(form, applied))

    # --- how it answers

    def _reply(self, body: Mapping[str, Any], text: str, thoughts: str, count: int, *, is_call: bool) -> Any:
        usage = {"usage": {"prompt_tokens": count, "completion_tokens": 5}} if self.counts_prompt else {}
        if "sampling_params" in body:
            return {
                "text": text,
                "meta_info": {"finish_reason": {"type": "stop", "matched": 2}, "prompt_tokens": count},
            }
        if self.kind == "ollama" and "response_format" not in body and ("format" in body or "options" in body):
            message = {"role": "assistant", "content": text, **({"thinking": thoughts} if thoughts else {})}
            answer = {"message": message} if "messages" in body else {"response": text}
            whole = {"model": "m", **answer, "done": True, "done_reason": "stop"}
            whole |= {"prompt_eval_count": count} if self.counts_prompt else {}
            return DoubleReply(json.dumps(whole) + "\n") if body.get("stream") else whole
        if body.get("stream"):
            first = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text[:3]}}]}
            last = {"choices": [{"index": 0, "delta": {"content": text[3:]}, "finish_reason": "stop"}]}
            return DoubleReply(events=(first, last, {"choices": [], **usage}, "[DONE]"))
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if thoughts:
            message["reasoning_content" if self.kind == "sglang" else "reasoning"] = thoughts
        finish = "stop"
        if is_call and text.startswith("{"):
            call = {"id": "1", "type": "function", "function": {"name": "record", "arguments": text}}
            message, finish = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
        words = _WORD.findall(text)
        if len(words) > body.get("max_tokens", len(words)):
            message, finish = {**message, "content": "".join(words[: body["max_tokens"]])}, "length"
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if body.get("logprobs"):
            tokens = _WORD.findall(f"{thoughts} {text}" if thoughts else text)
            choice["logprobs"] = {
                "content": [{"token": one, "bytes": list(one.encode()), "logprob": -0.1} for one in tokens]
            }
        return {"object": "chat.completion", "model": "m", "choices": [choice], **usage}


def _language(form: str, constraint: Any) -> Any:
    from engine.compile import compile_grammar

    if form == "json":
        return compile_grammar("json_schema", json.dumps(constraint))
    if form == "choice":
        return compile_grammar("gbnf", "root ::= " + " | ".join(map(json.dumps, constraint)))
    return compile_grammar("gbnf" if form == "grammar" else "regex", constraint)


def _is_legal(form: str, constraint: Any, text: str) -> bool:
    return bool(_language(form, constraint).fullmatch(text))


def _shortest(form: str, constraint: Any) -> str:
    from engine.diagnosis.test_strings.suggestions import shortest_text

    return shortest_text(_language(form, constraint))[0].text
