"""The cause of a failure with tools: whether the call was read, which tool it is, and who enforces its schema."""

from __future__ import annotations

import json

import pytest

from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import Cause
from engine.diagnosis.intake import PastedText, TextKind, read_failure
from engine.diagnosis.intake.written_calls import ToolFamily, WrittenCall, written_calls

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
RIGHT, WRONG = '{"city": "Rome"}', '{"city": 3}'


def request(*, strict=None, choice=None, **more):
    function = {"name": "weather", "parameters": PARAMETERS}
    if strict is not None:
        function["strict"] = strict
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    body["tools"] = [{"type": "function", "function": function}]
    if choice is not None:
        body["tool_choice"] = choice
    return body | more


def cause_of(body, *, target="", content=None, calls=()):
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": str(index), "type": "function", "function": {"name": name, "arguments": arguments}}
            for index, (name, arguments) in enumerate(calls)
        ]
    response = {"choices": [{"message": message, "finish_reason": "tool_calls" if calls else "stop"}]}
    texts = [
        PastedText(json.dumps(body).encode(), TextKind.REQUEST),
        PastedText(json.dumps(response).encode(), TextKind.RESPONSE),
    ]
    return diagnose(read_failure(texts), target=target)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ('<tool_call>\n{"name": "weather", "arguments": %s}\n</tool_call>', ToolFamily.HERMES),
        ('Let me see. <tool_call>{"arguments": %s, "name": "weather"}', ToolFamily.HERMES),
        ('[TOOL_CALLS][{"name": "weather", "arguments": %s, "id": "123456789"}]', ToolFamily.MISTRAL),
        ("[TOOL_CALLS]weather[ARGS]%s", ToolFamily.MISTRAL_ARGS),
        ('{"name": "weather", "parameters": %s}', ToolFamily.LLAMA),
    ],
)
def test_a_call_in_the_text_is_found_and_its_arguments_are_judged(text, family):
    (call,) = written_calls(text % WRONG)
    assert (call.family, call.name, call.arguments) == (family, "weather", WRONG)
    assert (text % WRONG)[call.start :].startswith(WRONG)
    right, wrong = (cause_of(request(choice="required"), content=text % arguments) for arguments in (RIGHT, WRONG))
    assert (right.cause, right.detail, right.tool, right.others) == (Cause.WRONG_ZONE, "tool-call", "weather", ())
    assert (wrong.cause, [one.detail for one in wrong.others]) == (Cause.WRONG_ZONE, ["type"])
    assert [one.pointer for one in wrong.violations] == ["/properties/city/type"]


def test_several_calls_and_one_that_is_cut_off_are_found():
    text = f'<tool_call>{{"name": "a", "arguments": {RIGHT}}}</tool_call><tool_call>{{"name": "b", "arguments": {{"x'
    assert [(call.name, call.arguments) for call in written_calls(text)] == [("a", RIGHT), ("b", '{"x')]
    broken = '<tool_call>{"name": "a", "arguments": {"x": 1,}}</tool_call>'
    assert [call.arguments for call in written_calls(broken)] == ['{"x": 1,}']
    elements = "<tool_call>\n<function=a>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>"
    assert written_calls(elements) == [WrittenCall(ToolFamily.QWEN_XML, "a", None, elements.index(">\n<parameter") + 1)]
    assert written_calls("no call at all") == []


@pytest.mark.parametrize(("choice", "detail"), [(None, "no-call"), ("auto", "no-call"), ("none", "no-call")])
def test_an_answer_in_words_is_no_failure_of_the_grammar(choice, detail):
    found = cause_of(request(choice=choice), content="It is sunny.")
    assert (found.cause, found.detail, found.others) == (Cause.TRIGGER_NEVER_CAME, detail, ())


def test_an_answer_in_words_where_a_call_is_required_had_no_grammar():
    assert cause_of(request(choice="required"), content="It is sunny.").cause is Cause.CONSTRAINT_OFF


def test_a_tool_that_the_request_does_not_have_is_named():
    found = cause_of(request(), calls=[("wether", RIGHT)])
    assert (found.cause, found.detail, found.tool) == (Cause.SCHEMA_VIOLATION, "enum", "wether")
    assert "`wether`" in found.sentence
    assert any("`weather`" in one for one in found.evidence)
    other = {"type": "function", "function": {"name": "news", "parameters": PARAMETERS}}
    body = request(choice={"type": "function", "function": {"name": "news"}})
    body["tools"].append(other)
    assert cause_of(body, calls=[("weather", RIGHT)]).detail == "enum"
    assert cause_of(body, calls=[("news", RIGHT)]).cause is Cause.COMPLETE


@pytest.mark.parametrize(
    ("target", "strict", "choice", "cause"),
    [
        ("vllm", None, None, Cause.REQUEST_IGNORED),
        ("vllm", None, "auto", Cause.REQUEST_IGNORED),
        ("vllm", True, "auto", Cause.KEYWORD_NOT_ENFORCED),
        ("vllm", None, "required", Cause.KEYWORD_NOT_ENFORCED),
        ("sglang", None, "auto", Cause.REQUEST_IGNORED),
        ("ollama", True, "required", Cause.REQUEST_IGNORED),
        ("openai", None, "auto", Cause.REQUEST_IGNORED),
        ("openai", True, "auto", Cause.KEYWORD_NOT_ENFORCED),
        ("llama.cpp", None, "auto", Cause.KEYWORD_NOT_ENFORCED),
        ("", None, "auto", Cause.KEYWORD_NOT_ENFORCED),
    ],
)
def test_who_enforces_the_arguments_of_a_tool(target, strict, choice, cause):
    body = request(strict=strict, choice=choice)
    found = cause_of(body, target=target, calls=[("weather", WRONG)])
    assert (found.cause, found.detail) == (cause, "type")
    assert cause_of(body, target=target, calls=[("weather", RIGHT)]).cause is Cause.COMPLETE


@pytest.mark.parametrize(("strict", "cause"), [(None, Cause.REQUEST_IGNORED), (True, Cause.KEYWORD_NOT_ENFORCED)])
def test_openai_enforces_an_answer_with_strict_alone(strict, cause):
    inner = {"name": "a", "schema": PARAMETERS} | ({} if strict is None else {"strict": strict})
    body = {"messages": [], "response_format": {"type": "json_schema", "json_schema": inner}}
    assert cause_of(body, target="openai", content=WRONG).cause is cause
