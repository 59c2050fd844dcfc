"""The causes of failures as users paste them: a request with a response or a log, of any server."""

from __future__ import annotations

import json

import pytest

from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.intake import PastedText, TextKind, read_failure

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Ada?"}]}
FORMAT = {**CHAT, "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": PERSON}}}
TOOLS = {**CHAT, "tools": [{"type": "function", "function": {"name": "weather", "parameters": CITY}}]}
INLINE = {**CHAT, "response_format": {"type": "json_schema", "json_schema": {"name": "p", **PERSON}}}
OLLAMA = {**CHAT, "format": PERSON, "options": {"num_ctx": 2048}}
AS_GRAMMAR = {"prompt": "Ada", "n_predict": 9, "grammar": json.dumps(PERSON)}
UNIQUE = {**CHAT, "structured_outputs": {"json": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}}


def chat(content: str | None, finish: str = "stop", **message: object) -> dict[str, object]:
    return {"choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}]}


def call(arguments: str) -> dict[str, object]:
    return chat(None, "tool_calls", tool_calls=[{"function": {"name": "weather", "arguments": arguments}}])


def used(answer: dict[str, object], completion: int, reasoning: int = 0) -> dict[str, object]:
    details = {"completion_tokens_details": {"reasoning_tokens": reasoning}}
    return {**answer, "usage": {"completion_tokens": completion, **details}}


CUT = '{"name": "Ada'
ENDS = [
    (FORMAT, chat(CUT, "content_filter"), "stop-token", "content-filter"),
    (FORMAT, chat(None, refusal="I cannot do that."), "wrong-zone", "refusal"),
    ({**FORMAT, "max_tokens": 9}, used(chat("", "length"), 9, 9), "cut-off", "reasoning"),
    ({**FORMAT, "max_tokens": 900}, used(chat(CUT, "length"), 9), "context-limit", ""),
    (OLLAMA, {"response": CUT, "done": True, "done_reason": "length", "eval_count": 148, "prompt_eval_count": 1900},
     "context-limit", ""),
    (OLLAMA, {"response": CUT, "done": True, "done_reason": "length", "eval_count": 9, "prompt_eval_count": 9},
     "cut-off", ""),
    (TOOLS, call(""), "stop-token", ""),
]  # fmt: skip
TEXTS = [
    ({**TOOLS, "tool_choice": "required"}, call(json.dumps('{"city": "Bern"}')), "schema-violation", "encoded-twice"),
    (FORMAT, chat(json.dumps('{"name": "Ada", "age": 36}')[1:-1]), "schema-violation", "encoded-twice"),
    (FORMAT, {"custom_id": "1", "response": {"body": chat('{"name": "Ada"}')}}, "schema-violation", "missing-required"),
    (TOOLS, chat("<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Bern'}}\n</tool_call>"), "wrong-zone",
     "tool-call"),
    (TOOLS, chat('I call it:\n```json\n{"name": "weather", "arguments": {"city": "Bern"}}\n```'), "wrong-zone",
     "tool-call"),
    (TOOLS, chat('[weather(city="Bern")]'), "wrong-zone", "tool-call"),
    (FORMAT, chat(None), "stop-token", ""),
    (FORMAT, {"error": {"code": 503, "message": "No slot is free"}}, "unknown", ""),
    (FORMAT, chat('{"name": "Ada", "age": 36, "name": "Eva"}'), "schema-violation", "duplicate-key"),
    (FORMAT, chat('{"name": "Ada "the first" Byron", "age": 36}'), "schema-violation", "unescaped-quote"),
    (FORMAT, chat('{"name": "she said "hi", and left", "age": 36}'), "schema-violation", "unescaped-quote"),
    (FORMAT, chat('{"name": "Ada" "age": 36}'), "schema-violation", "missing-comma"),
    (FORMAT, chat('{\n\n{\n"name": "Ada", "age": 36}\n\n '), "wrong-zone", "twice"),
    (INLINE, chat("Ada is 36."), "request-ignored", ""),
    (AS_GRAMMAR, {"content": "Ada is 36.", "stop": True}, "grammar-error", "gbnf-no-rule"),
]  # fmt: skip
LOGS = [
    ("openai.LengthFinishReasonError: Could not parse response content", "cut-off", "length"),
    ("Could not parse response content as the request was rejected by the content filter", "stop-token",
     "content-filter"),
    ("Grammar accept_token failed for req 7a1f with token 151645: Tokens not accepted", "constraint-off",
     "refused-token"),
    ("ERROR [hermes_tool_parser.py:110] Error in extracting tool call from response.", "wrong-zone", "tool-call"),
    ("RuntimeError: The size of tensor a (9) must match the size of tensor b (8)", "sampler-conflict", "logits-width"),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "response", "cause", "detail"), [*ENDS, *TEXTS])
def test_a_request_with_its_response_has_the_cause(request_, response, cause, detail):
    texts = [PastedText(json.dumps(request_), TextKind.REQUEST), PastedText(json.dumps(response), TextKind.RESPONSE)]
    found = diagnose(read_failure(texts))
    assert (found.cause, found.detail) == (cause, detail)
    assert found.fix


@pytest.mark.parametrize(("line", "cause", "detail"), LOGS)
def test_a_line_of_a_log_alone_has_the_cause(line, cause, detail):
    found = diagnose(read_failure([PastedText(line, TextKind.LOG)]))
    assert (found.cause, found.detail) == (cause, detail)
    assert found.fix


def test_an_output_that_is_too_long_to_be_judged_has_no_headline():
    answer = json.dumps({"name": "a" * 800_000, "age": 1})
    found = diagnose(read_failure([json.dumps(FORMAT), json.dumps(chat(answer))]))
    assert (found.cause, found.legal_prefix.bytes) == ("unknown", 800_000)


def test_the_object_in_a_value_of_a_recursive_schema_is_no_later_start():
    tree = {
        "$defs": {
            "n": {**PERSON, "properties": {"name": {"type": "string"}, "kids": {"items": {"$ref": "#/$defs/n"}}}}
        },
        "$ref": "#/$defs/n",
    }
    tree["$defs"]["n"]["required"] = ["name", "kids"]
    request = {**CHAT, "response_format": {"type": "json_schema", "json_schema": {"schema": tree}}}
    answer = chat('{"kids": [{"name": "a", "kids": []}, {"name": "b", "kids": []}]}')
    assert diagnose(read_failure([json.dumps(request), json.dumps(answer)])).detail == "missing-required"


def test_a_refused_request_names_the_keyword_that_the_message_does_not():
    error = {"error": {"message": "The provided JSON schema contains features not supported by xgrammar."}}
    found = diagnose(read_failure([json.dumps(UNIQUE), json.dumps(error)]))
    assert found.cause == "unsupported-construct"
    assert [place.pointer for place in found.places] == ["/uniqueItems"]


def test_the_parameters_that_a_log_shows_are_no_message():
    log = "INFO Received request c-1: params: SamplingParams(min_tokens=0, stop=[], max_tokens=16), lora_request: None"
    assert diagnose(read_failure([PastedText(log, TextKind.LOG)])).cause == "unknown"


def test_the_call_of_a_tool_in_parts_of_a_message_is_read():
    tool = {"name": "weather", "input_schema": CITY}
    answer = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Let me see."}, {"type": "tool_use", "name": "weather", "input": {}}],
        "stop_reason": "tool_use",
    }
    case = read_failure([json.dumps({**CHAT, "tools": [tool]}), json.dumps(answer)])
    assert [(one.name, one.arguments) for one in case.tool_calls] == [("weather", "{}")]
    assert diagnose(case).detail == "missing-required"
