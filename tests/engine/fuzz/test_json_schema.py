"""Whatever is written as a JSON Schema compiles or is refused, and what compiles can be walked."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from fuzzing import (
    LIMITS,
    any_text,
    can_be_walked,
    compiles_or_is_refused,
    fuzz,
    joined,
    mutated,
    real_texts,
    replaced,
)
from hypothesis import example, given
from hypothesis import strategies as st

from engine import CompileOptions
from engine.notations.json_schema.json_tree import Json, JsonTextError, read_json
from engine.schema_automaton.formula.values import number

_EXPONENT_DIGITS = 3
KEYWORDS = [
    *("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef", "$recursiveRef", "$recursiveAnchor"),
    *("$defs", "definitions", "type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    *("properties", "required", "patternProperties", "additionalProperties", "propertyNames", "minProperties"),
    *("maxProperties", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
    *("prefixItems", "items", "additionalItems", "minItems", "maxItems", "contains", "minContains", "maxContains"),
    *("uniqueItems", "unevaluatedItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "format", "contentEncoding", "default", "x-unknown", "", "a", "/~%25"),
]
STRINGS = [
    *(
        "",
        "a",
        "null",
        "boolean",
        "number",
        "integer",
        "string",
        "array",
        "object",
        "#",
        "#/$defs/a",
        "#a",
        "#/",
        "a#b",
    ),
    *(
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "urn:x:y",
        "http://[",
        "%",
    ),
    *(
        "^a+$",
        "(",
        "[a-z]{2,4}",
        r"\p{L}",
        "(?=a)b|c",
        ".{0,99999}",
        "date-time",
        "email",
        "idn-hostname",
        "regex",
        "uuid",
    ),
    *("\ud800", "\x00", "é", "\U0001f600", "//", "#/properties/a", "#/items/0", "../x", "http://x/y#z", "?", "::"),
]
NUMBERS = [0, 1, 2, 3, -1, 0.5, 1e-7, 1.5e300, 10**30, 2**63, -0.0, 1e308, 0.1, 999]
SCALARS = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(STRINGS))


def keyed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=5)


ODD = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), keyed(inner), keyed(inner)),
    max_leaves=12,
)
SENSIBLE = st.sampled_from(
    [
        {"type": "string", "minLength": 2},
        {"type": ["integer", "null"]},
        {"enum": [1, "a", None, [1], {"a": 2}]},
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"items": {"$ref": "#"}, "minItems": 1},
        {"minProperties": 2, "propertyNames": {"pattern": "^a"}},
        {"contains": {"const": 1}, "maxContains": 2},
        {"uniqueItems": True, "items": {"type": "boolean"}},
        {"multipleOf": 0.3, "maximum": 10},
        {"not": {"required": ["a"]}},
        False,
    ]
)
SCHEMAS = st.recursive(
    SENSIBLE | ODD,
    lambda inner: st.one_of(
        st.fixed_dictionaries({}, optional=dict.fromkeys(("not", "items", "contains", "if", "then", "else"), inner)),
        st.fixed_dictionaries(
            {}, optional={name: st.lists(inner, max_size=3) for name in ("allOf", "anyOf", "oneOf", "items")}
        ),
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
                "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "."]), inner, max_size=2),
                "additionalProperties": inner,
                "unevaluatedProperties": inner,
                "unevaluatedItems": inner,
                "dependentSchemas": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
                "required": st.lists(st.sampled_from("abcd"), max_size=3),
                "minProperties": st.integers(0, 4),
                "maxProperties": st.integers(0, 4),
                "minItems": st.integers(0, 4),
                "maxItems": st.integers(0, 4),
                "$defs": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            },
        ),
    ),
    max_leaves=8,
)
WORDS = [
    *'{}[],:"\\ \n\t\x00é\ud800-+.0123eE/',
    *(
        "null",
        "true",
        "false",
        '"a"',
        r'"\u0041"',
        r'"\ud800"',
        r'"\x"',
        "1e400",
        "-0.0",
        "1E-999999999",
        "9" * 40,
        "01",
    ),
    *(
        '"type":',
        '"string"',
        '"$ref":',
        '"#"',
        '"properties":{',
        '"items":',
        '"enum":[',
        '"pattern":',
        '"minimum":',
        "/**/",
    ),
]
REAL = real_texts(["jsts_2020", "jsts_7", "maskbench", "llama", "outlines"], "json_schema", 1_200) or [
    '{"properties": {"a": {"type": "array", "items": {"$ref": "#"}, "maxItems": 3}}, "required": ["a"]}'
]
ORDERS = st.sampled_from(["declared", "any"])


def check(text: str, seed: int, **options: Any) -> None:
    grammar = compiles_or_is_refused("json_schema", text, CompileOptions(limits=LIMITS, **options))
    if grammar is not None:
        can_be_walked(grammar, seed, 4)


@fuzz(80)
@given(st.one_of(joined(WORDS), mutated(REAL, WORDS), any_text()), st.integers(0, 99))
@example('{"a":' * 3_000, 0)
@example("[" * 100_000, 0)
@example('{"const":' + "[" * 1_500 + "]" * 1_500 + "}", 0)
@example('{"minimum":1e999999999}', 0)
@example('{"minLength":1e30,"maxLength":1e31}', 0)
@example('{"type":"string","type":"null"}', 0)
@example('{"properties":{"\\ud800":true},"required":["\\ud800"]}', 0)
@example('{"$id":"http://[a/x","$defs":{"b":{"$id":"y#z"}},"$ref":"http://[#a"}', 0)
def test_text(text: str, seed: int) -> None:
    check(text, seed)


@fuzz(80)
@given(SCHEMAS, st.integers(0, 99), ORDERS, st.sampled_from(["compact", "flexible", "any"]), st.booleans())
def test_keywords_with_values_that_make_no_sense(
    schema: Any, seed: int, order: str, whitespace: str, lenient: bool
) -> None:
    check(
        json.dumps(schema), seed, property_order=order, whitespace=whitespace, unenforced="warn" if lenient else "error"
    )


@fuzz(60)
@given(replaced(REAL, ODD, KEYWORDS), st.integers(0, 99), ORDERS)
def test_real_schemas_with_something_exchanged(text: str, seed: int, order: str) -> None:
    check(text, seed, property_order=order)


@fuzz(300)
@given(st.one_of(joined(WORDS), mutated(REAL, WORDS), any_text(), ODD.map(json.dumps)))
@example("[1e999999999, -0.5E-999999999]")
def test_the_reader_takes_what_json_takes(text: str) -> None:
    try:
        read = read_json(text)
    except JsonTextError as error:
        assert error.diagnostic.span.end <= len(text)  # noqa: PT017
        with pytest.raises(json.JSONDecodeError):
            json.loads(text, parse_constant=_no_json)
        return
    expected = json.loads(text, parse_constant=_no_json, parse_int=exact, parse_float=exact)
    assert plain(read) == joined_surrogates(expected)


def exact(text: str) -> Any:
    """Return the value of a number; with a large exponent the engine's, since a fraction would fill memory."""
    _, _, exponent = text.lower().partition("e")
    return number(text) if len(exponent.lstrip("+-0")) > _EXPONENT_DIGITS else Fraction(text)


def _no_json(word: str) -> None:
    raise json.JSONDecodeError("no JSON", word, 0)


def plain(part: Json) -> Any:
    if isinstance(part.value, list):
        return [plain(item) for item in part.value]
    if isinstance(part.value, dict):
        return {name: plain(item) for name, item in part.value.items()}
    return part.value


def joined_surrogates(value: Any) -> Any:
    """Two halves that stand side by side are one character, which the `json` module leaves as they are."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(value, list):
        return [joined_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {joined_surrogates(name): joined_surrogates(item) for name, item in value.items()}
    return value
