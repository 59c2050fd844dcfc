"""The keywords for which a schema does not allow a token."""

from __future__ import annotations

import json

import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.failures.refusal import refusal_of
from engine.matching.explanation import RefusalKind, TokenRefusal

TAGS = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["person", "place"]},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 2}, "minItems": 2, "maxItems": 3},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
    "if": {"properties": {"kind": {"const": "person"}}},
    "then": {"properties": {"tags": False}},
    "else": {"properties": {"name": {"maxLength": 1}}},
}
NESTED = {
    "type": "object",
    "properties": {"p": {"$ref": "#/$defs/p"}},
    "$defs": {
        "p": {"type": "object", "properties": {"q": {"$ref": "#/$defs/q"}}, "required": ["q"]},
        "q": {"enum": ["red", "blue"]},
    },
}
BRANCHES = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}}, "additionalProperties": False},
        {"type": "object", "properties": {"kind": {"const": "b"}, "y": {}}, "required": ["kind"]},
    ]
}
DEPENDENT = {"type": "object", "properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}}


def refusal(schema, read: str, token: str, **options) -> TokenRefusal:
    grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(**options))
    return refusal_of(grammar, read.encode(), token.encode())


@pytest.mark.parametrize(
    ("schema", "read", "token", "pointers"),
    [
        (TAGS, '{"name": "x", "kind": "person"', ', "tags"', ["/then/properties/tags"]),
        (TAGS, '{"name": "x", "kind": "person"', ",", ["/additionalProperties", "/then/properties/tags"]),
        (TAGS, "{", "}", ["/required"]),
        (TAGS, '{"name": "x", "kind": "per', "l", ["/properties/kind/enum"]),
        (TAGS, '{"name": "x", "kind": "place", "tags": ["aa"', "]", ["/properties/tags/minItems"]),
        (TAGS, '{"name": "x", "kind": "place", "tags": ["aa", "bb", "cc"', ",", ["/properties/tags/maxItems"]),
        (TAGS, '{"name": "x", "kind": "place", "tags": ["a', '"', ["/properties/tags/items/minLength"]),
        (TAGS, "", "[", ["/type"]),
        (NESTED, '{"p": {"q": "', "g", ["/$defs/q/enum"]),
        (NESTED, '{"p": {', "}", ["/$defs/p/required"]),
        (BRANCHES, '{"kind": "a"', ', "y"', ["/oneOf/1/properties/kind/const", "/oneOf/0/additionalProperties"]),
        (DEPENDENT, '{"a": 1', "}", ["/dependentRequired/a"]),
        ({"type": "array", "uniqueItems": True, "items": {"type": "integer"}}, "[1, 1", "]", ["/uniqueItems"]),
        ({"not": {"required": ["a"]}, "type": "object"}, "{", '"a"', ["/not"]),
        ({"minLength": 3, "enum": ["ab", "abcd"]}, '"ab', '"', ["/minLength"]),
    ],
)
def test_a_token_is_refused_by_the_keywords_without_which_it_may_come(schema, read, token, pointers):
    found = refusal(schema, read, token)
    assert found.kind is RefusalKind.KEYWORDS
    assert [one.pointer for one in found.keywords] == pointers


def test_a_keyword_of_a_branch_names_its_condition_and_required_the_missing_properties():
    met = refusal(TAGS, '{"name": "x", "kind": "person"', ', "tags"').keywords[0]
    assert (met.condition, met.is_met) == ("/if", True)
    assert json.dumps(TAGS)[met.span.start : met.span.end] == "false"
    missing = refusal(TAGS, '{"name": "x"', "}").keywords[0]
    assert (missing.condition, missing.names) == ("", ("kind",))
    schema = {**TAGS, "properties": {"kind": TAGS["properties"]["kind"], "name": {}}}
    not_met = refusal(schema, '{"kind": "place", "name": "a', "b").keywords[0]
    named = {"properties": {"if": {}, "then": {"type": "integer"}}}
    assert refusal(named, '{"then": ', '"').keywords[0].condition == ""
    assert (not_met.pointer, not_met.condition, not_met.is_met) == ("/else/properties/name/maxLength", "/if", False)


@pytest.mark.parametrize(
    ("schema", "read", "token", "options", "option"),
    [
        ({"properties": {"b": {}, "a": {}}}, '{"a": 1, ', '"b"', {}, "property_order"),
        (TAGS, '{"name":"x",', " ", {"whitespace": "compact"}, "whitespace"),
        ({"pattern": "^a+$"}, '"', "\\u0061", {}, "escapes"),
        ({"properties": {"a": {}}}, "{", '"b"', {"additional": "closed"}, "additional"),
    ],
)
def test_what_an_option_refuses_is_not_said_to_be_a_keyword(schema, read, token, options, option):
    found = refusal(schema, read, token, **options)
    assert (found.kind, found.option, found.keywords) == (RefusalKind.OPTION, option, ())


def test_a_property_that_is_not_declared_comes_last_so_its_keyword_goes_with_the_order():
    found = refusal(TAGS, '{"name": "x", ', '"nam')
    assert (found.kind, found.option) == (RefusalKind.KEYWORDS, "property_order")
    assert [one.pointer for one in found.keywords] == ["/additionalProperties"]


def test_keywords_that_each_refuse_a_token_are_one_cause():
    found = refusal({"maxLength": 1, "enum": ["a"]}, '"a', "b")
    assert found.kind is RefusalKind.TOGETHER
    assert {one.pointer for one in found.keywords} == {"/maxLength", "/enum"}


@pytest.mark.parametrize(
    ("read", "token", "kind"),
    [
        ('{"name"', "}", RefusalKind.NOT_JSON),
        ('{"name": "x", "kind": "place"', ', "name"', RefusalKind.PRESENT),
        ('{"name": "x"', ", ", RefusalKind.UNKNOWN),  # it is allowed
        ('{"nam": 1', "}", RefusalKind.UNKNOWN),  # what was read is not
    ],
)
def test_what_no_keyword_refuses_has_another_kind(read, token, kind):
    assert refusal(TAGS, read, token) == TokenRefusal(kind)


def test_a_large_schema_is_searched_in_part_and_proved_as_a_whole():
    filler = {f"f{index}": {"enum": [f"value {index} {n}" for n in range(20)]} for index in range(60)}
    schema = {**NESTED, "properties": {**filler, **NESTED["properties"]}}
    found = refusal(schema, '{"f0": "value 0 1", "p": {', "}")
    assert [(one.pointer, one.names) for one in found.keywords] == [("/$defs/p/required", ("q",))]
