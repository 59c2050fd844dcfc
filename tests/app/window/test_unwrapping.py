"""A grammar within the request that it was pasted with."""

from __future__ import annotations

import json

import pytest

from app.catalogue import ui_text
from app.document.gallery import examples
from app.pasting import intake_of, read_paste, read_response
from engine.decoding.values import Chat, SamplerSettings


def pasted(text):
    intake = intake_of(text)
    return None if intake is None else read_paste(text, intake)


def unwrapped(text):
    found = pasted(text)
    return None if found is None else (found.constraints[0].text, found.wrapper(found.constraints[0]))


SCHEMA = {"type": "object", "properties": {"schema": {"type": "string"}}, "required": ["schema"]}
GBNF = 'root ::= "a"\n'


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        ({"type": "json_schema", "json_schema": {"name": "p", "strict": True, "schema": SCHEMA}}, "json_schema.schema"),
        ({"model": "m", "response_format": {"type": "json_object", "schema": SCHEMA}}, "response_format.schema"),
        ({"name": "p", "strict": True, "schema": SCHEMA}, "schema"),
        ({"type": "function", "function": {"name": "f", "parameters": SCHEMA}}, "function.parameters"),
        ([{"name": "f", "input_schema": SCHEMA}], "input_schema"),
        ({"prompt": "p", "guided_json": SCHEMA}, "guided_json"),
        ({"structured_outputs": {"json": SCHEMA}}, "structured_outputs.json"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_schema_is_found_by_the_names_of_fields(request_, where, indent):
    found = unwrapped(json.dumps(request_, indent=indent))
    assert found is not None
    assert (json.loads(found[0]), found[1]) == (SCHEMA, where)
    if indent:
        assert found[0] == json.dumps(SCHEMA, indent=indent) + "\n"


def test_the_text_stays_as_it_is_written():
    text = '{ "guided_json" : {"type":"number", "maximum": 1.50e1} , "guided_json": {"const":  1 } }'
    assert unwrapped(text) == ('{"const":  1 }\n', "guided_json")
    assert unwrapped('[ {"name": "f", "parameters":{"type":"number", "maximum": 1.50e1}} ]')[0] == (
        '{"type":"number", "maximum": 1.50e1}\n'
    )


def test_a_grammar_in_a_string_is_found_too():
    assert unwrapped(json.dumps({"prompt": "p", "grammar": GBNF})) == (GBNF, "grammar")
    assert unwrapped(json.dumps({"guided_regex": r"[a-z]+\d"})) == (r"[a-z]+\d", "guided_regex")
    assert unwrapped(json.dumps({"grammar": "some words"})) is None


def test_a_code_block_is_taken_off():
    assert unwrapped('```json\n{"type": "null"}\n```') == (
        '{"type": "null"}\n',
        ui_text("window.notation.fragment.code_block"),
    )
    assert unwrapped(f"```gbnf\n{GBNF}```\n") == (GBNF, ui_text("window.notation.fragment.code_block"))
    inner = json.dumps({"schema": SCHEMA})
    assert unwrapped(f"```\n{inner}\n```")[1] == "schema"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(SCHEMA),
        '{"properties": {"schema": {"type": "string"}}}',
        '{"anyOf": [{"type": "null"}]}',
        "{}",
        "[]",
        "{",
        "",
        GBNF,
        '{"a": 1}',
        '{"schema": 3}',
        "```",
        "[" * 100_000,
    ],
)
def test_everything_else_stays_as_it_is(text):
    assert unwrapped(text) is None


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.title)
def test_no_example_is_a_wrapping(example):
    assert unwrapped(example.document().grammar.text) is None


def test_several_tools_are_all_offered():
    found = pasted(json.dumps([{"name": "f", "parameters": SCHEMA}, {"name": "g", "parameters": {"type": "null"}}]))
    assert [constraint.tool for constraint in found.constraints] == ["f", "g"]


def test_prompt_and_settings_of_a_request_are_read():
    body = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}], "max_tokens": 9}
    found = pasted(json.dumps({**body, "temperature": 0.5, "seed": 7, "top_k": 3, "guided_json": SCHEMA}))
    sampler = found.sampler(SamplerSettings(top_p=0.5))
    assert sampler == SamplerSettings(temperature=0.5, seed=7, top_k=3, top_p=0.5)
    assert found.max_tokens == 9
    assert found.prompt(has_chat=True) == Chat((("system", "S"), ("user", "U")))
    assert found.prompt(has_chat=False) == "S\n\nU"


def test_the_response_of_a_server_is_an_output_with_its_end():
    answer = {
        "choices": [{"message": {"content": '{"a'}, "finish_reason": "length"}],
        "usage": {"completion_tokens": 3},
    }
    found = read_response(json.dumps(answer))
    assert (found.output, found.finish, found.max_tokens) == (b'{"a', "length", 3)
    call = {"function": {"name": "f", "arguments": "{}"}}
    message = {"message": {"tool_calls": [call]}, "finish_reason": "stop"}
    found = read_response(json.dumps({"choices": [message]}))
    assert (found.output, found.finish, found.max_tokens) == (b"{}", "stop", None)


@pytest.mark.parametrize(
    "text", ['{"a": 1}', "some words", '{"output": "x", "status": "ok"}', '{"choices": ["a", "b"]}', "", "{" * 5000]
)
def test_an_output_that_looks_like_a_response_stays_as_it_is(text):
    assert read_response(text) is None
