"""Random schemas before and after a refactoring, judged by the package jsonschema: an oracle of its own."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from engine.refactoring import REFACTORINGS
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, refactored
from engine.source import Span

_INSTANCES: tuple[Any, ...] = (
    *(None, True, 0, 1, 2, 3, 2.5, "", "a", "ab", "abc", [], [1], ["a"], [1, "a"], [1, 2, 3], {}),
    *({"a": value} for value in (None, 1, 3, "a", "ab")),
    *({"a": 1, "b": 2}, {"b": "a"}, {"a": "ab", "c": 1}, {"c": []}, {"a": {"a": 1}}),
)
_KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(
        ["string", "integer", "number", "object", "array", ["object", "null"], ["number", "string"]]
    ),
    "minimum": st.integers(0, 3),
    "maximum": st.integers(0, 3),
    "minLength": st.integers(0, 2),
    "maxLength": st.integers(0, 2),
    "maxItems": st.integers(0, 3),
    "maxProperties": st.integers(0, 2),
    "required": st.lists(st.sampled_from("abc"), unique=True, min_size=1, max_size=2),
    "const": st.sampled_from([1, "a", None]),
    "pattern": st.sampled_from(["a", "^.b"]),
    "title": st.sampled_from(["x", "y"]),
    "uniqueItems": st.booleans(),
}


def _schemas(more: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Return random schemas, with further keywords whose values are made of other schemas."""

    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        nested = {
            "properties": st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), inner, min_size=1, max_size=1),
            "additionalProperties": st.booleans() | inner,
            "propertyNames": inner,
            "items": inner,
            "not": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "contains": inner,
            "if": inner,
            "then": inner,
        }
        return st.fixed_dictionaries({}, optional={**_KEYWORDS, **nested, **more}).map(_few)

    return st.recursive(st.fixed_dictionaries({}, optional=_KEYWORDS).map(_few), extend, max_leaves=5)


def _few(schema: dict[str, Any]) -> dict[str, Any]:
    return dict(list(schema.items())[:4])


def _accepted(schema: Any) -> list[bool]:
    validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
    return [validator.is_valid(instance) for instance in _INSTANCES]


def _is_kept(name: str, schema: Any) -> None:
    try:
        after, _ = refactored(REFACTORINGS[name], GrammarSelection("json_schema", json.dumps(schema), Span(1, 1)))
    except RefactoringError:
        return
    assert _accepted(json.loads(after)) == _accepted(schema)


_NEW = _schemas({"unevaluatedProperties": st.booleans(), "dependentRequired": st.just({"a": ["b"]})})
_OLD = _schemas(
    {
        "items": st.lists(st.sampled_from([{"type": "integer"}, {"const": "a"}]), max_size=2),
        "additionalItems": st.booleans(),
        "exclusiveMinimum": st.booleans(),
        "dependencies": st.sampled_from([{"a": ["b"]}, {"a": {"maxProperties": 1}}, {"a": ["b"], "b": {}}]),
        "$ref": st.just("#/definitions/d"),
    }
)


@fuzz(6)
@given(members=st.lists(_NEW, min_size=1, max_size=3), around=_NEW, is_first=st.booleans())
def test_merging_keeps_what_is_accepted(members, around, is_first):
    schema = {"allOf": members, **around} if is_first else {**around, "allOf": members}
    _is_kept("merge-all-of", schema)


@fuzz(6)
@given(schema=_OLD, draft=st.sampled_from([4, 6, 7]))
def test_upgrading_keeps_what_is_accepted(schema, draft):
    address = f"http://json-schema.org/draft-0{draft}/schema#"
    if draft > 4:
        schema = {name: value for name, value in schema.items() if name != "exclusiveMinimum"}
    _is_kept("upgrade-draft", {"$schema": address, "definitions": {"d": {"type": ["integer", "object"]}}, **schema})


@fuzz(6)
@given(inner=_NEW, around=_NEW)
def test_inlining_keeps_what_is_accepted(inner, around):
    schema = {"$defs": {"d": inner}, "properties": {"a": {**around, "$ref": "#/$defs/d"}}}
    text = json.dumps(schema)
    offset = text.index('"#/$defs/d"')
    try:
        selection = GrammarSelection("json_schema", text, Span(offset, offset))
        after, _ = refactored(REFACTORINGS["inline-reference"], selection)
    except RefactoringError:
        return
    assert _accepted(json.loads(after)) == _accepted(schema)
