"""Responses: the answer, the reasoning, the tool calls and the reason for the end, from any of the known servers.

A stream is a list of events, each a small response; their texts are joined. The representations of objects that Python
prints are read by the names of their fields, so they need no reader of their own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.diagnosis.case import FailureCase, FinishReason, ListedToken, ScoredToken, ToolCall
from engine.diagnosis.intake.request_reader import text_of
from engine.diagnosis.intake.servers import CHAT, COMPLETION, COMPLETIONS, GENERATE, RESPONSES, server_of_response

_FINISHES: Final = {
    **dict.fromkeys(
        "stop eos eos_token stop_sequence stop_string word end_turn completed stopped".split(), FinishReason.STOP
    ),
    **dict.fromkeys("length limit max_tokens max_output_tokens".split(), FinishReason.LENGTH),
    **dict.fromkeys(
        "context context_length model_length max_context exceed_context_size_error".split(), FinishReason.CONTEXT
    ),
    **dict.fromkeys("tool_calls tool_use function_call".split(), FinishReason.TOOL_CALLS),
    **dict.fromkeys("content_filter content_filtered safety".split(), FinishReason.FILTER),
}
_TOKEN_ID: Final = re.compile(r"token_id:(\d+)")
_BYTES: Final = re.compile(r"bytes:((?:\\x[0-9a-fA-F]{2})+)")
"""The form in which OpenAI's older interface writes a token that is no complete character."""
_NOT_LISTED: Final = -9999.0
"""OpenAI gives this log-probability to a token below the listed ones; vLLM cuts all smaller ones off there."""
_MARKS: Final = (
    frozenset(("choices",)),
    frozenset(("meta_info", "text")),
    frozenset(("content", "stop")),
    frozenset(("content", "tokens_predicted")),
    frozenset(("message", "done")),
    frozenset(("response", "done")),
    frozenset(("output", "status")),
    frozenset(("custom_id", "response")),
    frozenset(("outputs", "prompt")),
    frozenset(("content", "finish_reason")),
    frozenset(("text", "finish_reason")),
)
"""Sets of fields, one of which a response has."""


def is_response(value: Any) -> bool:
    """Return whether a value is a response, an event of a stream, or the message of a response."""
    if isinstance(value, list):
        return bool(value) and all(is_response(one) for one in value)
    if not isinstance(value, dict):
        return False
    if any(marks <= value.keys() for marks in _MARKS):
        return True
    if value.get("role") == "assistant" and ("content" in value or "tool_calls" in value):
        return True
    if str(value.get("type", "")).startswith("response.") or value.get("object") in ("response", "chat.completion"):
        return True
    if isinstance(value.get("token"), dict) and "logprob" in value["token"]:
        return True
    return is_error(value)


def is_error(value: Mapping[str, Any]) -> bool:
    """Return whether an object is the body of an error."""
    error = value.get("error")
    if (
        isinstance(error, str | dict)
        and error
        and value.keys() <= {"error", "code", "type", "message", "request_id", "status"}
    ):
        return True
    is_object = value.get("object") == "error" and isinstance(value.get("message"), str)
    return is_object or ("detail" in value and len(value) == 1)


def read_response(body: Any) -> FailureCase:
    """Return what a response says.

    Args:
        body: the response, or the list of the events of a stream.
    """
    answer = _Answer()
    for event in body if isinstance(body, list) else [body]:
        if isinstance(event, dict):
            answer.add(event)
    return answer.case()


@dataclass
class _Answer:
    """The parts of an answer, collected from one response or from the events of a stream."""

    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    has_content: bool = False
    has_message: bool = False
    calls: dict[object, list[str]] = field(
        default_factory=dict
    )  # the name and the parts of the arguments, by its index
    scores: list[ScoredToken] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    so_far: FailureCase = field(default_factory=FailureCase)

    def case(self) -> FailureCase:
        """Return the answer as a case."""
        text = "".join(self.content)
        thought = "".join(self.reasoning)
        calls = tuple(ToolCall(name, "".join(parts)) for name, *parts in self.calls.values())
        is_empty = self.has_message and bool(self.so_far.finish) and not calls and not thought
        has_thought = bool(thought) or "<think>" in text
        return replace(
            self.so_far,
            output=text.encode("utf-8", "surrogatepass") if self.has_content or text or is_empty else None,
            reasoning=thought,
            thinking=True if has_thought else self.so_far.thinking,
            tool_calls=calls,
            scores=tuple(self.scores),
            ids=tuple(self.ids),
        )

    def add(self, event: Mapping[str, Any]) -> None:
        """Add a response or an event."""
        whole = event.get("response")
        if isinstance(whole, dict) and isinstance(whole.get("body"), dict):  # a line of a batch
            self.add(whole["body"])
            return
        self._around(event)
        if str(event.get("type", "")).startswith("response."):
            self._responses_event(event)
        elif isinstance(event.get("output"), list) and "choices" not in event:
            self._responses(event)
        elif isinstance(event.get("choices"), list):
            for choice in event["choices"][:1]:
                self._choice(choice)
        elif isinstance(event.get("meta_info"), dict):
            self._sglang(event)
        elif isinstance(event.get("outputs"), list):
            for output in event["outputs"][:1]:
                self._choice(output)
            self._set(interface=GENERATE)
        elif isinstance(event.get("message"), dict) or "response" in event:
            self._ollama(event)
        elif isinstance(event.get("token"), dict):
            self._add_content(event["token"].get("text"))
        elif event.get("role") == "assistant":
            self._message(event)
        else:
            self._llama(event)

    def _around(self, event: Mapping[str, Any]) -> None:
        """Read what is beside the answer."""
        server, version = server_of_response(event)
        self._set(server=server, version=version)
        if isinstance(event.get("model"), str):
            self._set(model=event["model"])
        if is_error(event) or (isinstance(event.get("error"), dict) and event["error"]):
            self._set(status=_error_text(event))
        self._usage(event)
        if "prompt_token_ids" in event:
            self._set(prompt_ids=tuple(_ids(event["prompt_token_ids"])))

    def _set(self, **values: Any) -> None:
        """Set fields that are still empty."""
        known = {name: value for name, value in values.items() if value and not getattr(self.so_far, name)}
        self.so_far = replace(self.so_far, **known)

    def _finish(self, reason: Any) -> None:
        if isinstance(reason, dict):  # SGLang
            self._set(stopped_by=_as_text(reason.get("matched")))
            if reason.get("type") == "abort":
                self._set(status=str(reason.get("message") or "abort"))
            reason = reason.get("type")
        found = _FINISHES.get(str(reason).lower().rpartition(".")[2])
        if found is not None:
            self.so_far = replace(self.so_far, finish=found)

    def _usage(self, event: Mapping[str, Any]) -> None:
        usage = event.get("usage")
        holder = usage if isinstance(usage, dict) else event
        for name in ("completion_tokens", "output_tokens", "tokens_predicted", "eval_count"):
            if _is_count(holder.get(name)):
                self.so_far = replace(self.so_far, completion_tokens=holder[name])
        for name in ("completion_tokens_details", "output_tokens_details"):
            details = holder.get(name)
            if isinstance(details, dict) and _is_count(details.get("reasoning_tokens")):
                self.so_far = replace(self.so_far, reasoning_tokens=details["reasoning_tokens"])
        for name in ("prompt_tokens", "input_tokens", "tokens_evaluated", "prompt_eval_count"):
            if _is_count(holder.get(name)):
                self.so_far = replace(self.so_far, prompt_tokens=holder[name])

    def _add_content(self, text: Any) -> None:
        if isinstance(text, str):
            self.content.append(text)
            self.has_content = True

    def _add_reasoning(self, text: Any) -> None:
        if isinstance(text, str):
            self.reasoning.append(text)

    # --- OpenAI's forms

    def _choice(self, choice: Any) -> None:
        if not isinstance(choice, dict):
            return
        self._finish(choice.get("finish_reason"))
        for name in ("stop_reason", "matched_stop"):
            self._set(stopped_by=_as_text(choice.get(name)))
        message = next((choice[name] for name in ("message", "delta") if isinstance(choice.get(name), dict)), None)
        if message is not None:
            self._set(interface=CHAT)
            self._message(message)
        elif "text" in choice:
            self._set(interface=COMPLETIONS)
            self._add_content(choice["text"])
        self.ids += _ids(choice.get("token_ids"))
        self._set(prompt_ids=tuple(_ids(choice.get("prompt_token_ids"))))
        self._logprobs(choice.get("logprobs"))

    def _message(self, message: Mapping[str, Any]) -> None:
        self.has_message = True
        content = message.get("content")
        if isinstance(content, list):
            self._parts(content)
        else:
            self._add_content(content)
        self._set(refusal=_as_text(message.get("refusal")))
        self._finish(message.get("stop_reason"))  # Anthropic
        for name in ("reasoning_content", "reasoning", "thinking"):
            if isinstance(message.get(name), str):
                self._add_reasoning(message[name])
                break
        for position, call in enumerate(message.get("tool_calls") or ()):
            if isinstance(call, dict):
                self._call(call, call.get("index", position))
        if isinstance(message.get("function_call"), dict):
            self._call({"function": message["function_call"]}, "function_call")

    def _parts(self, parts: list[Any]) -> None:
        """Read the parts of a message: texts, and Anthropic's thoughts and calls of tools."""
        named = [part for part in parts if isinstance(part, dict)]
        self._add_reasoning("".join(str(part.get("thinking") or "") for part in named))
        for position, part in enumerate(named):
            if part.get("type") == "tool_use":
                self._call(part, position)
        texts = [part for part in parts if not isinstance(part, dict) or "text" in part]
        if texts or not self.calls:
            self._add_content(text_of(texts))

    def _call(self, call: Mapping[str, Any], index: object) -> None:
        function = call.get("function")
        holder = function if isinstance(function, dict) else call.get("custom", call)
        if not isinstance(holder, dict):
            return
        entry = self.calls.setdefault(index, [""])
        name, arguments = holder.get("name"), holder.get("arguments", holder.get("input"))
        if isinstance(name, str) and name:
            entry[0] = name
        if isinstance(arguments, str):
            entry.append(arguments)
        elif arguments is not None:  # Ollama sends an object
            entry.append(json.dumps(arguments, ensure_ascii=False))

    def _logprobs(self, logprobs: Any) -> None:
        if isinstance(logprobs, list):  # Ollama, vLLM's own interface
            self.scores += [_scored(entry) for entry in logprobs if isinstance(entry, dict) and "token" in entry]
        if not isinstance(logprobs, dict):
            return
        if isinstance(logprobs.get("content"), list):
            self.scores += [_scored(entry) for entry in logprobs["content"] if isinstance(entry, dict)]
        elif isinstance(logprobs.get("tokens"), list):
            self.scores += _completion_scores(logprobs)

    # --- the responses interface

    def _responses(self, body: Mapping[str, Any]) -> None:
        self._set(interface=RESPONSES)
        for position, item in enumerate(body["output"]):
            if not isinstance(item, dict):
                continue
            kind = item.get("type")
            if kind == "message":
                for part in item.get("content") or ():
                    if isinstance(part, dict):
                        self._add_content(part.get("text"))
                        self._set(refusal=_as_text(part.get("refusal")))
                        self._logprobs(part.get("logprobs"))
            elif kind == "reasoning":
                parts = [*(item.get("content") or ()), *(item.get("summary") or ())]
                self._add_reasoning(text_of(parts))
            elif kind in ("function_call", "custom_tool_call"):
                self._call(item, position)
        self._finish(body.get("status"))
        details = body.get("incomplete_details")
        if isinstance(details, dict):
            self._finish(details.get("reason"))

    def _responses_event(self, event: Mapping[str, Any]) -> None:
        self._set(interface=RESPONSES)
        kind, delta = str(event["type"]), event.get("delta")
        whole = event.get("response")
        if isinstance(whole, dict) and whole.get("output"):
            self.content.clear()
            self.reasoning.clear()
            self.calls.clear()
            self.scores.clear()
            self._usage(whole)
            self._responses(whole)
        elif isinstance(whole, dict):
            self._usage(whole)
            if isinstance(whole.get("error"), dict):
                self._set(status=_error_text(whole))
            details = whole.get("incomplete_details")
            self._finish(details.get("reason") if isinstance(details, dict) else whole.get("status"))
        elif kind == "response.output_text.delta":
            self._add_content(delta)
        elif kind.startswith("response.reasoning") and kind.endswith(".delta"):
            self._add_reasoning(delta)
        elif kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            self._call({"arguments": delta}, event.get("output_index", 0))
        elif kind == "response.output_item.added":
            item = event.get("item")
            if isinstance(item, dict) and item.get("type") in ("function_call", "custom_tool_call"):
                self._call({"name": item.get("name")}, event.get("output_index", 0))

    # --- the servers' own forms

    def _llama(self, event: Mapping[str, Any]) -> None:
        self._set(interface=COMPLETION)
        self._add_content(event.get("content", event.get("generated_text")))
        self.ids += _ids(event.get("tokens"))
        for entry in event.get("completion_probabilities") or ():
            if isinstance(entry, dict):
                self._set(are_sampled="top_probs" in entry)
                self.scores.append(_scored(entry))
        for name, reason in (("stopped_limit", "limit"), ("stopped_word", "word"), ("stopped_eos", "eos")):
            if event.get(name) is True:
                self._finish(reason)
        self._finish(event.get("stop_type", event.get("finish_reason")))
        self._set(stopped_by=_as_text(event.get("stopping_word")))
        if event.get("truncated") is True and self.so_far.finish is FinishReason.LENGTH:
            self.so_far = replace(self.so_far, finish=FinishReason.CONTEXT)

    def _ollama(self, event: Mapping[str, Any]) -> None:
        message = event.get("message")
        if isinstance(message, dict):
            self._set(interface=CHAT)
            self._message(message)
        else:
            self._set(interface=GENERATE)
            self._add_content(event.get("response"))
            self._add_reasoning(event.get("thinking"))
        self._logprobs(event.get("logprobs"))
        self._finish(event.get("done_reason"))

    def _sglang(self, event: Mapping[str, Any]) -> None:
        """Read an answer of `/generate`; in a stream, each event has the whole text so far."""
        self._set(interface=GENERATE)
        meta = event["meta_info"]
        self.content.clear()
        self._add_content(event.get("text"))
        self.ids[:] = _ids(event.get("output_ids"))
        self._usage(meta)
        self._finish(meta.get("finish_reason"))
        self.scores[:] = _sglang_scores(meta)


def _error_text(event: Mapping[str, Any]) -> str:
    error = event.get("error", event)
    if not isinstance(error, dict):
        return str(error)
    code = error.get("code", event.get("code"))
    message = error.get("message", error.get("detail", error.get("error", "")))
    text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
    details = error.get("metadata")
    if isinstance(details, dict) and isinstance(details.get("raw"), str):  # the error of the provider behind a router
        text = f"{text}: {details['raw']}"
    return f"{code}: {text}" if isinstance(code, int | str) and code and text else text or str(code or "error")


def _as_text(value: Any) -> str:
    return "" if value is None or isinstance(value, dict | list | bool) else str(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _ids(values: Any) -> list[int]:
    items = values if isinstance(values, list) else ()
    return [one for one in items if isinstance(one, int) and not isinstance(one, bool)]


# --- log-probabilities


def _scored(entry: Mapping[str, Any]) -> ScoredToken:
    """Return a token with its log-probability, as OpenAI's interface, llama-server and Ollama send it."""
    others: list[Any] = next(
        (entry[name] for name in ("top_logprobs", "top_probs", "probs") if isinstance(entry.get(name), list)), []
    )
    data, token_id = _token(entry)
    listed = [(*_token(one), _logprob(one)) for one in others if isinstance(one, dict)]
    known = tuple(ListedToken(other, value, number) for other, number, value in listed if value is not None)
    token = ScoredToken(data, _logprob(entry), token_id, known)
    if token.logprob is None:
        token = replace(token, logprob=next((one.logprob for one in known if token.is_same(one)), None))
    return token


def _token(entry: Mapping[str, Any]) -> tuple[bytes, int | None]:
    number = entry.get("id")
    token_id = number if isinstance(number, int) and not isinstance(number, bool) else None
    text = next((entry[name] for name in ("token", "tok_str", "content") if isinstance(entry.get(name), str)), "")
    named = _TOKEN_ID.fullmatch(text)
    if named is None:
        return _bytes_of(entry.get("bytes"), text), token_id
    data = _bytes_of(entry.get("bytes"), "")
    return b"" if data == text.encode() else data, int(named[1])  # vLLM may send the bytes of the name


def _bytes_of(numbers: Any, text: str) -> bytes:
    items = _ids(numbers)
    if items and all(0 <= number < 256 for number in items):
        return bytes(items)
    if (written := _BYTES.fullmatch(text)) is not None:
        return bytes.fromhex(written[1].replace("\\x", ""))
    return text.encode("utf-8", "surrogatepass")


def _logprob(entry: Mapping[str, Any]) -> float | None:
    value = entry.get("logprob")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return None if math.isnan(value) or value <= _NOT_LISTED else min(0.0, float(value))
    p = entry.get("prob")
    if isinstance(p, int | float) and not isinstance(p, bool):
        return math.log(p) if p > 0 else -math.inf
    return None


def _completion_scores(logprobs: Mapping[str, Any]) -> Iterator[ScoredToken]:
    """Yield the tokens of the older form: lists of tokens, log-probabilities and alternatives."""
    tokens: Sequence[Any] = logprobs["tokens"]
    values = logprobs.get("token_logprobs") or ()
    tops = logprobs.get("top_logprobs") or ()
    for index, token in enumerate(tokens):
        value = values[index] if index < len(values) else None
        top = tops[index] if index < len(tops) and isinstance(tops[index], dict) else {}
        entry = {"token": token, "logprob": value}
        others = [{"token": other, "logprob": score} for other, score in top.items()]
        yield _scored({**entry, "top_logprobs": others})


def _sglang_scores(meta: Mapping[str, Any]) -> Iterable[ScoredToken]:
    """Yield the tokens of `[log-probability, id, text]` triples."""
    tops = meta.get("output_top_logprobs") or ()
    for index, triple in enumerate(meta.get("output_token_logprobs") or ()):
        if not isinstance(triple, list) or len(triple) < 2:
            continue
        others = tops[index] if index < len(tops) and isinstance(tops[index], list) else ()
        yield _scored({**_triple(triple), "top_logprobs": [_triple(one) for one in others if isinstance(one, list)]})


def _triple(values: Sequence[Any]) -> dict[str, Any]:
    logprob, token_id, *text = values
    return {"logprob": logprob, "id": token_id, "token": text[0] if text else ""}
