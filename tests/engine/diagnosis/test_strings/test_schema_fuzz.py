"""Schema fuzz both ways: agreement on schemas of many keywords, and planted differences that are found."""

from __future__ import annotations

import json

import jsonschema
import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.test_strings.schema_fuzz import fuzz_schema
from engine.source import CancelledError, CancelToken, EngineError, GrammarError

SCHEMAS = [
    {
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": 5}, "n": {"type": "integer", "minimum": 2, "maximum": 40}},
        "required": ["n"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"type": "number", "multipleOf": 0.5}, "uniqueItems": True, "maxItems": 3},
    {"anyOf": [{"enum": ["x", 1, None]}, {"type": "object", "required": ["k"], "properties": {"k": {"const": 7}}}]},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_both_sides_agree_and_both_answers_occur(schema):
    found = fuzz_schema(json.dumps(schema), 30, seed=3)
    assert found.differences == ()
    assert found.legal > 3
    assert 0 < found.refused < found.mutants


def test_a_schema_that_we_read_as_closed_differs():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    found = fuzz_schema(json.dumps(schema), 10, options=CompileOptions(additional="closed"))
    assert found.differences
    for one in found.differences:
        assert (one.is_accepted, one.reason) == (False, "")
        jsonschema.validate(json.loads(one.text), schema)


def test_a_keyword_that_we_leave_out_differs(monkeypatch):
    whole = {"type": "integer", "maximum": 40}
    monkeypatch.setattr(
        "engine.diagnosis.test_strings.schema_fuzz.compile_grammar",
        lambda notation, text, options, *, cancel: compile_grammar(notation, '{"type": "integer"}', options),
    )
    found = fuzz_schema(json.dumps(whole), 30)
    assert any(one.is_accepted and "40" in one.reason for one in found.differences)


def test_the_same_seed_gives_the_same_texts():
    schema = json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}})
    options = CompileOptions(additional="closed")
    assert fuzz_schema(schema, 8, 1, options) == fuzz_schema(schema, 8, 1, options)
    assert fuzz_schema(schema, 8, 1, options) != fuzz_schema(schema, 8, 2, options)


def test_what_cannot_be_fuzzed_is_an_error():
    with pytest.raises(GrammarError):
        fuzz_schema('{"type": 1}', 3)
    with pytest.raises(GrammarError):
        fuzz_schema("{", 3)


def test_without_the_package_the_error_names_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jsonschema", None)
    with pytest.raises(EngineError) as error:
        fuzz_schema("{}", 3)
    assert error.value.key == "errors.diagnosis.no_jsonschema"


def test_it_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        fuzz_schema("{}", 3, cancel=cancel)
