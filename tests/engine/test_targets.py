"""The data on other engines: every file is as the types say, and each condition selects what it names."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import jsonschema
import msgspec
import pytest
from error_keys import raises_key

from engine.source import EngineError
from engine.targets import (
    ENGINES,
    Effect,
    EngineRecord,
    SchemaCondition,
    TargetDataError,
    Treatment,
    engine_record,
    read_record,
)

KEYWORDS = {
    *jsonschema.Draft202012Validator.VALIDATORS,
    *jsonschema.Draft7Validator.VALIDATORS,
    *("then", "else", "minContains", "maxContains"),
}
TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}


def conditions(condition: SchemaCondition):
    yield condition
    for one in condition.one_of:
        yield from conditions(one)


def test_every_file_is_listed_and_meets_the_schema_of_its_type():
    folder = files("resources") / "targets"
    assert sorted(file.name for file in folder.iterdir()) == [f"{name}.json" for name in ENGINES]
    schema = msgspec.json.schema(EngineRecord)
    for name in ENGINES:
        jsonschema.validate(json.loads((folder / f"{name}.json").read_text("utf-8")), schema)


@pytest.mark.parametrize("name", ENGINES)
def test_the_data_name_only_keywords_and_types_that_exist(name):
    record = engine_record(name)
    assert record.engine
    assert record.source
    assert record.treatments
    for treatment in record.treatments:
        for one in conditions(treatment.when):
            named = {one.at_least_two, one.within, one.is_schema, one.is_restricted, one.is_unanchored, one.is_list}
            named = {*named, one.is_boolean, *one.at_least, *one.text_has} - {""}
            assert all(map(re.compile, one.text_has.values()))
            assert {*treatment.keywords, *one.has, *one.has_any, *one.lacks, *named} <= KEYWORDS
            assert {*one.types, *one.not_types, *filter(None, (one.may_be,))} <= TYPES
            assert record.formats or not one.has_unknown_format
        assert treatment.note or treatment.keywords
        assert treatment.note.endswith(".") or not treatment.note
        assert set(re.findall(r"\{(.*?)\}", treatment.note)) <= ({"keywords"} if treatment.keywords else set())


@pytest.mark.parametrize(
    ("before", "after"),
    [('"effect"', '"efect"'), ('"refuses"', '"ignores"'), ('"has_any"', '"has_some"'), ("{", "[")],
)
def test_a_damaged_file_is_an_error_with_its_name(before, after):
    content = (files("resources") / "targets" / "vllm.json").read_text("utf-8")
    with raises_key(TargetDataError, "errors.targets.unreadable", name="vllm") as caught:
        read_record(content.replace(before, after, 1).encode(), "vllm")
    assert isinstance(caught.value, EngineError)


@pytest.mark.parametrize(
    ("condition", "meets", "fails"),
    [
        ({"has": ["a", "b"]}, {"a": 1, "b": 1}, {"a": 1}),
        ({"has_any": ["a", "b"]}, {"b": 1}, {"c": 1}),
        ({"lacks": ["a", "b"]}, {"c": 1}, {"b": 1}),
        ({"types": ["array"]}, {"type": ["array", "null"]}, {}),
        ({"not_types": ["integer"]}, {"type": "number"}, {"type": "integer"}),
        ({"may_be": "string"}, {}, {"type": ["array"]}),
        ({"may_be": "string"}, {"type": ["array", "string"]}, {"type": "number"}),
        ({"at_least_two": "allOf"}, {"allOf": [{}, {}]}, {"allOf": [{}]}),
        ({"within": "propertyNames", "has": ["maxLength"]}, {"propertyNames": {"maxLength": 1}}, {"maxLength": 1}),
        ({"is_schema": "additionalProperties"}, {"additionalProperties": {}}, {"additionalProperties": True}),
        ({"is_restricted": "unevaluatedItems"}, {"unevaluatedItems": False}, {"unevaluatedItems": True}),
        ({"is_unanchored": "pattern"}, {"pattern": "^a"}, {"pattern": "^a$"}),
        ({"is_list": "items"}, {"items": [{}]}, {"items": {}}),
        ({"is_boolean": "a"}, {"a": True}, {"a": 1}),
        ({"text_has": {"pattern": "b+"}}, {"pattern": "abc"}, {"pattern": "ac"}),
        ({"at_least": {"maxLength": 2}}, {"maxLength": 2}, {"maxLength": 1}),
        ({"has_unknown_format": True}, {"format": "iri"}, {"format": "date"}),
        ({"is_open": True}, {}, {"additionalProperties": False}),
        ({"has_optional_property": True}, {"properties": {"a": {}}}, {"properties": {"a": {}}, "required": ["a"]}),
        ({"one_of": [{"has": ["a"]}, {"has": ["b"]}]}, {"b": 1}, {"c": 1}),
    ],
)
def test_a_condition_selects_what_it_names(condition, meets, fails):
    found = msgspec.convert(condition, SchemaCondition)
    assert found.holds(meets, formats=frozenset({"date"}), is_root=False)
    assert not found.holds(fails, formats=frozenset({"date"}), is_root=False)


def test_names_of_properties_and_data_are_no_keywords():
    record = read_record(
        b'{"engine": "x", "version": "1", "source": "here", "treatments": ['
        b'{"effect": "drops", "keywords": ["not"]},'
        b'{"effect": "refuses", "when": {"is_root": true, "not_types": ["object"]}, "note": "No."}]}',
        "x",
    )
    assert not list(record.found({"type": "object", "properties": {"not": {"enum": [{"not": 1}]}}}))
    found = list(record.found({"items": [{"not": {"type": "object"}}]}))
    assert [(treatment.effect, keywords) for treatment, keywords in found] == [("drops", ("not",)), ("refuses", ())]


def test_deep_schemas_are_read():
    schema = {"minimum": 1}
    for _ in range(5_000):
        schema = {"items": [schema]}
    record = read_record(
        b'{"engine": "x", "version": "1", "source": "here", "treatments": ['
        b'{"effect": "drops", "keywords": ["minimum"]}]}',
        "x",
    )
    assert [keywords for _, keywords in record.found(schema)] == [("minimum",)]


@pytest.mark.parametrize(
    ("given", "applies"), [("", [False, True]), ("b9", [True, False]), ("b10", [False, True]), ("0.5.0", [False, True])]
)
def test_a_treatment_applies_to_versions(given, applies):
    found = [Treatment(Effect.DROPS, until="b10"), Treatment(Effect.DROPS, since="b10")]
    assert [one.applies_to(given) for one in found] == applies
    record = EngineRecord("x", "b9", "here", tuple(found))
    assert record.treatments_of() == (found[0],)
    assert record.treatments_of("b10") == (found[1],)


def test_a_treatment_that_is_only_for_the_lint_is_not_found_by_exports():
    only = Treatment(Effect.DROPS, ("not",), in_exports=False)
    assert not list(EngineRecord("x", "1", "here", (only,)).found({"not": {}}))
