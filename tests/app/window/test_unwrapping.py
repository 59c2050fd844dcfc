"""A grammar within the request that it was pasted with."""

from __future__ import annotations

import json

import pytest

from app.document.gallery import examples
from app.pasting import unwrapped

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
    text = '{ "a\\"}": [1, {"schema": 2}], "schema" : {"type":"number", "maximum": 1.50e1} , "schema": {"const":  1 } }'
    assert unwrapped(text) == ('{"const":  1 }\n', "schema")
    assert unwrapped('[ {"parameters":{"type":"number", "maximum": 1.50e1}} ]')[0] == (
        '{"type":"number", "maximum": 1.50e1}\n'
    )


def test_a_grammar_in_a_string_is_found_too():
    assert unwrapped(json.dumps({"prompt": "p", "grammar": GBNF})) == (GBNF, "grammar")
    assert unwrapped(json.dumps({"guided_regex": r"[a-z]+\d"})) == (r"[a-z]+\d", "guided_regex")
    assert unwrapped(json.dumps({"grammar": "some words"})) is None


def test_a_code_block_is_taken_off():
    assert unwrapped('```json\n{"type": "null"}\n```') == ('{"type": "null"}\n', "the code block")
    assert unwrapped(f"```gbnf\n{GBNF}```\n") == (GBNF, "the code block")
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
        json.dumps([{"name": "f", "parameters": SCHEMA}, {"name": "g", "parameters": SCHEMA}]),  # which one?
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
