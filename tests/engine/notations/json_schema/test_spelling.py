"""Keywords that were probably meant, and words that were not."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from engine import Severity, compile_grammar
from engine.notations.json_schema.advice import likely_keyword
from engine.notations.json_schema.dialects import ENFORCED
from engine.notations.json_schema.keywords import FUNCTIONS
from engine.source import diagnostic
from engine.source.catalogue import catalogue_text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("propertes", "properties"),
        ("porperties", "properties"),
        ("requird", "required"),
        ("minlength", "minLength"),
        ("additionalproperties", "additionalProperties"),
        ("item", "items"),
        ("anyof", "anyOf"),
        ("tpye", "type"),
        ("enmu", "enum"),
        ("tape", None),
        ("ref", None),
        ("example", None),
        ("title", None),
        ("x-type", None),
        ("_format", None),
        ("name", None),
        ("unit", None),
        ("", None),
    ],
)
def test_one_letter_makes_the_difference(written: str, meant: str | None) -> None:
    assert likely_keyword(written) == meant


def test_no_keyword_is_taken_for_another() -> None:
    assert [word for word in ENFORCED if likely_keyword(word) not in {word, None}] == []


def test_a_hint_stands_at_the_key() -> None:
    schema = {"type": "string", "minlength": 2}
    text = json.dumps({"type": "object", "propertes": {}, "title": "A", "properties": {"nam": schema}})
    unknown, hint = compile_grammar("json_schema", text).diagnostics
    # `properties` is there, so `propertes` is no slip.
    assert unknown == diagnostic("schema-unknown-keyword", unknown.span, what="propertes")
    assert text[hint.span.start : hint.span.end] == '"minlength"'
    assert hint == diagnostic("schema-misspelled-keyword", hint.span, what="minlength", meant="minLength")


def found_in(schema: object) -> list[tuple[str, Severity, str]]:
    text = json.dumps(schema)
    found = compile_grammar("json_schema", text).diagnostics
    return [(one.code, one.severity, text[one.span.start : one.span.end]) for one in found]


@pytest.mark.parametrize("name", ["faker", "propertys", "enumNames", "k" * 500, "ü", "type ", ""])
def test_each_unknown_keyword_has_a_hint_at_its_key(name: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", name: 1}}}
    assert found_in(schema) == [("schema-unknown-keyword", Severity.HINT, json.dumps(name, ensure_ascii=True))]


def test_a_similar_keyword_is_suggested() -> None:
    (hint,) = compile_grammar("json_schema", '{"type": "object", "propertys": {}}').diagnostics
    assert hint == diagnostic("schema-unknown-keyword.similar", hint.span, what="propertys", similar="properties")


@pytest.mark.parametrize("name", ["x-order", "_note", "$comment", "//", "title", "example", "nullable"])
def test_annotations_and_extensions_have_no_finding(name: str) -> None:
    assert found_in({"type": "string", name: "a"}) == []


REQUEST = {
    "model": "gpt",
    "messages": [{"role": "user", "content": "Hello"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
}


@pytest.mark.parametrize(
    ("schema", "advice"),
    [
        (REQUEST, "/response_format/json_schema/schema"),
        ({"name": "f", "description": "d", "parameters": {"type": "object"}}, "/parameters"),
        ({"name": {"type": "string"}, "age": {"type": "integer"}}, '"properties"'),
        ({"name": "Ann", "age": 3}, catalogue_text("diagnostics.schema-no-keyword.hint")),
        (
            {"propertys": {"a": {"type": "string"}}},
            catalogue_text("diagnostics.schema-no-keyword.similar.hint", similar="properties", name="propertys"),
        ),
    ],
)
def test_a_schema_without_any_keyword_is_warned_of(schema: object, advice: str) -> None:
    first = compile_grammar("json_schema", json.dumps(schema)).diagnostics[0]
    assert (first.code, first.severity) == ("schema-no-keyword", Severity.WARNING)
    assert advice in first.hint


def test_a_subschema_without_any_keyword_is_warned_of() -> None:
    schema = {"type": "object", "properties": {"address": {"street": {"type": "string"}}}}
    assert [code for code, *_ in found_in(schema)] == ["schema-no-keyword", "schema-unknown-keyword"]


@pytest.mark.parametrize("schema", [{}, {"title": "A"}, {"$defs": {"a": {"type": "null"}}}, {"x-a": 1}, {"default": 1}])
def test_a_schema_of_annotations_alone_is_not_warned_of(schema: object) -> None:
    assert found_in(schema) == []


def test_of_very_many_unknown_keywords_the_first_are_listed_and_the_others_counted() -> None:
    schema = {"type": "object", "properties": {f"p{i}": {"type": "string", "faker": 1} for i in range(20_000)}}
    found = compile_grammar("json_schema", json.dumps(schema)).diagnostics
    assert len(found) == 21
    assert "19,980 more" in found[-1].message


def test_the_search_for_a_similar_keyword_takes_memory_in_proportion_to_the_text() -> None:
    text = json.dumps({"type": "string", "k" * 100_000: 1, "p" * 100_000: 2})
    compile_grammar("json_schema", '{"type": "string"}')
    tracemalloc.start()
    try:
        found = compile_grammar("json_schema", text).diagnostics
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == 2
    assert max(len(one.message) for one in found) < 1_000
    assert peak < 50 * len(text)


def test_each_enforced_keyword_has_a_function() -> None:
    assert frozenset(FUNCTIONS) == ENFORCED
