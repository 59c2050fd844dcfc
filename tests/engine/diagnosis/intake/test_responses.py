"""Responses and streams of every server, with log-probabilities."""

from __future__ import annotations

import json
import math

import pytest

from engine.diagnosis.case import FailureCase, FinishReason, ListedToken, ScoredToken, ToolCall
from engine.diagnosis.intake import PastedText, TextKind, read_failure


def read(value: object) -> FailureCase:
    return read_failure([value if isinstance(value, str) else json.dumps(value)])


def chat(message: dict[str, object], **more: object) -> dict[str, object]:
    return {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", **message}, **more}]}


ANSWERS = [
    (chat({"content": "{}"}, finish_reason="stop"), "chat", FinishReason.STOP),
    ({"choices": [{"text": "{}", "finish_reason": "length"}]}, "completions", FinishReason.LENGTH),
    (
        {
            "object": "response",
            "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "{}"}]}],
        },
        "responses",
        FinishReason.STOP,
    ),
    (
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [{"type": "message", "content": [{"text": "{}"}]}],
        },
        "responses",
        FinishReason.LENGTH,
    ),
    ({"content": "{}", "stop": True, "stop_type": "limit", "tokens_predicted": 2}, "completion", FinishReason.LENGTH),
    ({"content": "{}", "stop": True, "stop_type": "limit", "truncated": True}, "completion", FinishReason.CONTEXT),
    ({"content": "{}", "stop": True, "stopped_eos": True, "stopped_limit": False}, "completion", FinishReason.STOP),
    ({"text": "{}", "meta_info": {"finish_reason": {"type": "length", "length": 2}}}, "generate", FinishReason.LENGTH),
    (
        {"model": "m", "message": {"role": "assistant", "content": "{}"}, "done": True, "done_reason": "stop"},
        "chat",
        FinishReason.STOP,
    ),
    ({"model": "m", "response": "{}", "done": True, "done_reason": "length"}, "generate", FinishReason.LENGTH),
]


@pytest.mark.parametrize(("body", "interface", "finish"), ANSWERS)
def test_the_answer_and_its_end_are_read(body, interface, finish):
    case = read(body)
    assert (case.output, case.interface, case.finish) == (b"{}", interface, finish)
    assert read(repr(body)) == case


def test_reasoning_is_read_apart_from_the_answer():
    for name in ("reasoning_content", "reasoning"):
        case = read(chat({"content": "4", name: "2 + 2"}, finish_reason="stop"))
        assert (case.output, case.reasoning, case.thinking) == (b"4", "2 + 2", True)
    case = read({"model": "m", "message": {"role": "assistant", "content": "4", "thinking": "2 + 2"}, "done": True})
    assert (case.output, case.reasoning) == (b"4", "2 + 2")
    parts = [{"type": "reasoning", "summary": [{"text": "2 + 2"}]}, {"type": "message", "content": [{"text": "4"}]}]
    assert read({"object": "response", "output": parts, "status": "completed"}).reasoning == "2 + 2"
    assert read(chat({"content": "<think>no"})).thinking is True


def test_tool_calls_are_read_from_every_form():
    arguments = '{"city": "Bern"'
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    case = read(chat({"content": None, "tool_calls": [call]}, finish_reason="tool_calls"))
    assert (case.tool_calls, case.output, case.finish) == ((ToolCall("f", arguments),), None, FinishReason.TOOL_CALLS)
    ollama = {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
        }
    }
    assert read({**ollama, "done": True}).tool_calls == (ToolCall("f", '{"a": 1}'),)
    output = [{"type": "function_call", "name": "f", "arguments": arguments, "call_id": "1"}]
    assert read({"object": "response", "output": output, "status": "completed"}).tool_calls == (
        ToolCall("f", arguments),
    )
    old = read(
        chat({"content": None, "function_call": {"name": "f", "arguments": arguments}}, finish_reason="function_call")
    )
    assert (old.tool_calls, old.finish) == ((ToolCall("f", arguments),), FinishReason.TOOL_CALLS)


def test_usage_and_what_stopped_the_answer_are_read():
    usage = {"prompt_tokens": 5, "completion_tokens": 7}
    case = read({**chat({"content": "x"}, finish_reason="stop", stop_reason=128009), "usage": usage})
    assert (case.prompt_tokens, case.completion_tokens, case.stopped_by, case.server) == (5, 7, "128009", "vllm")
    case = read(
        {"text": "x", "meta_info": {"finish_reason": {"type": "stop", "matched": "###"}, "completion_tokens": 3}}
    )
    assert (case.stopped_by, case.completion_tokens, case.server) == ("###", 3, "sglang")
    case = read({"content": "x", "stop": True, "stop_type": "word", "stopping_word": "\n", "tokens_evaluated": 4})
    assert (case.stopped_by, case.prompt_tokens, case.server) == ("\n", 4, "llama.cpp")
    case = read({"model": "m", "response": "x", "done": True, "eval_count": 3, "prompt_eval_count": 2})
    assert (case.prompt_tokens, case.completion_tokens, case.server) == (2, 3, "ollama")
    case = read({**chat({"content": "x"}), "system_fingerprint": "b5289-91a86a6f"})
    assert (case.server, case.version) == ("llama.cpp", "b5289")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"code": 400, "message": "failed to parse grammar"}}, "400: failed to parse grammar"),
        ({"error": "invalid format"}, "invalid format"),
        ({"object": "error", "message": "bad", "code": 400}, "400: bad"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"text": "", "meta_info": {"finish_reason": {"type": "abort", "message": "out of memory"}}}, "out of memory"),
        ("HTTP/1.1 500 Internal Server Error\r\n", "500"),
        ("openai.BadRequestError: Error code: 400 - {'error': {'message': 'bad', 'code': 'x'}}", "x: bad"),
    ],
)
def test_an_error_is_a_status(body, status):
    assert read(body).status == status


# --- log-probabilities


def test_log_probabilities_of_chats_are_kept():
    entry = {
        "token": "{",
        "bytes": [123],
        "logprob": -0.5,
        "top_logprobs": [{"token": "é", "bytes": [195, 169], "logprob": -1}],
    }
    split = {"token": "\\xc3", "bytes": [195], "logprob": -2.0, "top_logprobs": []}
    case = read(chat({"content": "{"}, logprobs={"content": [entry, split]}))
    assert case.scores == (
        ScoredToken(b"{", -0.5, None, (ListedToken("é".encode(), -1.0),)),
        ScoredToken(b"\xc3", -2.0),
    )
    named = read(chat({"content": "{"}, logprobs={"content": [{"token": "token_id:7", "logprob": -1, "bytes": [123]}]}))
    assert named.scores == (ScoredToken(b"{", -1.0, 7),)


def test_log_probabilities_of_completions_are_kept():
    logprobs = {"tokens": ["a", "b"], "token_logprobs": [None, -1.0], "top_logprobs": [None, {"b": -1.0, "c": -2.0}]}
    case = read({"choices": [{"text": "ab", "logprobs": logprobs, "token_ids": [3, 4]}]})
    assert case.scores == (
        ScoredToken(b"a"),
        ScoredToken(b"b", -1.0, None, (ListedToken(b"b", -1.0), ListedToken(b"c", -2.0))),
    )
    assert case.ids == (3, 4)


def test_log_probabilities_of_llama_server_are_kept():
    new = {
        "id": 5,
        "token": "{",
        "bytes": [123],
        "logprob": -0.1,
        "top_logprobs": [{"id": 6, "token": "[", "bytes": [91], "logprob": -3}],
    }
    sampled = {"id": 5, "token": "{", "bytes": [123], "prob": 0.5, "top_probs": [{"id": 6, "token": "[", "prob": 0.0}]}
    old = {"content": "{", "probs": [{"tok_str": "{", "prob": 1.0}, {"tok_str": "[", "prob": 0.5}]}
    case = read({"content": "{{{", "stop": True, "completion_probabilities": [new, sampled, old], "tokens": [5, 5, 5]})
    assert case.scores == (
        ScoredToken(b"{", -0.1, 5, (ListedToken(b"[", -3.0, 6),)),
        ScoredToken(b"{", math.log(0.5), 5, (ListedToken(b"[", -math.inf, 6),)),
        ScoredToken(b"{", 0.0, None, (ListedToken(b"{", 0.0), ListedToken(b"[", math.log(0.5)))),
    )
    assert case.ids == (5, 5, 5)


def test_log_probabilities_of_sglang_and_ollama_are_kept():
    meta = {"output_token_logprobs": [[-0.5, 9, "a"], [-1.0, 8, None]], "output_top_logprobs": [[[-0.5, 9, "a"]], None]}
    case = read({"text": "a", "meta_info": meta, "output_ids": [9, 8]})
    assert case.scores == (ScoredToken(b"a", -0.5, 9, (ListedToken(b"a", -0.5, 9),)), ScoredToken(b"", -1.0, 8))
    assert case.ids == (9, 8)
    ollama = {
        "response": "a",
        "done": True,
        "logprobs": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}],
    }
    assert read(ollama).scores == (ScoredToken(b"a", -0.5),)


# --- streams


def sse(*events: object) -> str:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def test_a_stream_of_a_chat_is_joined():
    def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
        return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}

    call = {"index": 0, "function": {"name": "f", "arguments": ""}}
    text = sse(
        delta(role="assistant", content=""),
        delta(reasoning_content="hm"),
        delta(content="{"),
        delta(content="}"),
        delta(tool_calls=[call]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": '{"a":'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": "1}"}}]),
        delta("length"),
        {"choices": [], "usage": {"completion_tokens": 4}},
    )
    case = read(": keep-alive\n\n" + text)
    assert (case.output, case.reasoning, case.finish) == (b"{}", "hm", FinishReason.LENGTH)
    assert (case.tool_calls, case.completion_tokens) == ((ToolCall("f", '{"a":1}'),), 4)


def test_a_stream_of_completions_and_of_llama_server_is_joined():
    assert (
        read(sse({"choices": [{"text": "a"}]}, {"choices": [{"text": "b", "finish_reason": "stop"}]})).output == b"ab"
    )
    events = [{"content": "a", "tokens": [1], "stop": False}, {"content": "b", "tokens": [2], "stop": False}]
    case = read(sse(*events, {"content": "", "stop": True, "stop_type": "eos", "tokens_predicted": 2}))
    assert (case.output, case.ids, case.finish, case.completion_tokens) == (b"ab", (1, 2), FinishReason.STOP, 2)


def test_a_stream_of_the_responses_interface_is_joined():
    events = [
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {"type": "response.reasoning_text.delta", "delta": "hm"},
        {"type": "response.output_text.delta", "delta": "{"},
        {"type": "response.output_text.delta", "delta": "}"},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "name": "f"}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"},
    ]
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    case = read(text)
    assert (case.output, case.reasoning, case.tool_calls) == (b"{}", "hm", (ToolCall("f", "{}"),))
    item = {"type": "message", "content": [{"type": "output_text", "text": "{}"}]}
    whole = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [item],
        "usage": {"output_tokens": 9},
    }
    case = read(text + sse({"type": "response.incomplete", "response": whole}))
    assert (case.output, case.finish, case.completion_tokens) == (b"{}", FinishReason.LENGTH, 9)


def test_the_lines_of_ollama_and_the_events_of_sglang_are_joined():
    lines = [{"model": "m", "message": {"role": "assistant", "content": part}, "done": False} for part in ("{", "}")]
    lines.append({"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
    case = read("\n".join(json.dumps(line) for line in lines))
    assert (case.output, case.finish, case.server) == (b"{}", FinishReason.STOP, "ollama")
    events = [
        {"text": text, "output_ids": ids, "meta_info": {"finish_reason": end}}
        for text, ids, end in (("a", [1], None), ("ab", [1, 2], {"type": "stop"}))
    ]
    case = read(sse(*events))
    assert (case.output, case.ids, case.finish) == (b"ab", (1, 2), FinishReason.STOP)


def test_a_stream_that_was_cut_is_read_to_its_end():
    whole = sse({"choices": [{"delta": {"content": "a"}}]}, {"choices": [{"delta": {"content": "b"}}]})
    assert read(whole[: whole.rindex('{"choices"') + 9]).output == b"a"


# --- what Python prints


def test_the_representation_of_a_completion_is_read():
    text = (
        "ChatCompletion(id='1', choices=[Choice(finish_reason='length', index=0, logprobs=None, message="
        "ChatCompletionMessage(content='{\"a\": ', refusal=None, role='assistant', tool_calls=None), "
        "stop_reason=None)], "
        "created=1, model='m', object='chat.completion', usage=CompletionUsage(completion_tokens=3, prompt_tokens=1))"
    )
    case = read(text)
    assert (case.output, case.finish, case.completion_tokens) == (b'{"a": ', FinishReason.LENGTH, 3)


def test_the_representation_of_vllms_outputs_is_read():
    text = (
        "RequestOutput(request_id=0, prompt='p', prompt_token_ids=[1], outputs=[CompletionOutput(index=0, text='ab', "
        "token_ids=[5, 6], cumulative_logprob=None, logprobs=None, finish_reason=length, stop_reason=None)], "
        "finished=True)"
    )
    case = read(text)
    assert (case.output, case.ids, case.finish) == (b"ab", (5, 6), FinishReason.LENGTH)


def test_a_text_of_a_known_kind_needs_no_recognition():
    case = read_failure([PastedText("anything", TextKind.OUTPUT), PastedText('{"choices": []}', TextKind.RESPONSE)])
    assert case.output == b"anything"


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"delta": {"tool_calls": [3]}}]},
        {"output": [1], "status": 2},
        {"text": 1, "meta_info": {}},
        {"message": 1, "done": 2},
        {"content": [], "stop": 1, "completion_probabilities": [1, {}]},
    ],
)
def test_a_response_with_values_of_other_types_is_read_as_far_as_it_goes(body):
    assert read_failure([PastedText(json.dumps(body), TextKind.RESPONSE)]).output in (None, b"")
