"""The map of a schema: its rows, what they say, and what they refer to."""

from __future__ import annotations

import json
import pickle

import pytest

from engine.compile import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.schema_map import NO_ROW, SchemaMap

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "tags": {"type": "array", "maxItems": 3, "items": {"enum": ["a", "b", "c", "d"]}},
        "tree": {"$ref": "#/$defs/tree"},
        "a/b": {"type": ["integer", "null"], "minimum": 0},
    },
    "required": ["tags"],
    "additionalProperties": False,
    "anyOf": [{"properties": {"kind": {"const": "leaf"}}}, {"title": "Branch"}],
    "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}, "uniqueItems": True}},
}
TEXT = json.dumps(SCHEMA, indent=2)


def map_of(text: str) -> SchemaMap:
    found = NOTATIONS["json_schema"].schema_map(text, CompileOptions())
    assert found is not None
    return found


@pytest.fixture(scope="module")
def mapped() -> SchemaMap:
    return map_of(TEXT)


def row(mapped: SchemaMap, pointer: str) -> int:
    return next(one for one in range(len(mapped)) if mapped.pointer(one) == pointer)


def test_every_subschema_has_a_row_at_its_pointer(mapped: SchemaMap) -> None:
    assert [mapped.pointer(one) for one in range(len(mapped))] == [
        "#",
        "#/properties/name",
        "#/properties/tags",
        "#/properties/tags/items",
        "#/properties/tree",
        "#/properties/a~1b",
        "#/anyOf/0",
        "#/anyOf/0/properties/kind",
        "#/anyOf/1",
        "#/$defs",
        "#/$defs/tree",
        "#/$defs/tree/items",
    ]
    assert mapped.children(0)[-1] == row(mapped, "#/$defs")


def test_a_row_says_what_it_requires(mapped: SchemaMap) -> None:
    said = {mapped.pointer(one): (mapped.types[one], mapped.constraints[one]) for one in range(len(mapped))}
    assert said["#/properties/name"] == ("string", "1–20 chars")
    assert said["#/properties/tags"] == ("array", "≤ 3 items")
    assert said["#/properties/tags/items"] == ("", "enum of 4")
    assert said["#/properties/a~1b"] == ("integer | null", "≥ 0")
    assert said["#/properties/tree"][0].endswith(" tree")
    assert [one for one in range(len(mapped)) if mapped.required[one]] == [row(mapped, "#/properties/tags")]


def test_branches_are_told_apart_by_constants_and_titles(mapped: SchemaMap) -> None:
    assert "leaf" in mapped.names[row(mapped, "#/anyOf/0")]
    assert "Branch" in mapped.names[row(mapped, "#/anyOf/1")]


def test_tools_have_their_names() -> None:
    call = {"properties": {"name": {"const": "get_weather"}, "arguments": {"type": "object"}}}
    assert map_of(json.dumps({"anyOf": [call, call]})).names[1].endswith(" get_weather")


def test_a_reference_leads_to_its_row_and_unfolds_without_end(mapped: SchemaMap) -> None:
    tree, items = row(mapped, "#/$defs/tree"), row(mapped, "#/$defs/tree/items")
    assert mapped.targets[row(mapped, "#/properties/tree")] == mapped.targets[items] == tree
    assert mapped.unfolded(row(mapped, "#/properties/tree")) == [items] == mapped.unfolded(items)
    endless = map_of('{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}')
    assert endless.unfolded(2) == []


def test_an_offset_has_the_innermost_row(mapped: SchemaMap) -> None:
    for one in range(1, len(mapped)):
        assert mapped.at(mapped.starts[one]) == one
    assert mapped.at(TEXT.index('"required"')) == 0
    assert mapped.at(TEXT.index('"maxLength"')) == row(mapped, "#/properties/name")


def test_all_words_are_searched_in_name_pointer_type_and_constraints(mapped: SchemaMap) -> None:
    assert mapped.find("STRING 20") == [row(mapped, "#/properties/name")]
    assert row(mapped, "#/$defs/tree/items") in mapped.find("/items")
    assert mapped.find(" ") == []


def test_the_map_of_a_refused_schema_is_whole_and_that_of_no_json_is_none() -> None:
    assert len(map_of('{"properties": {"a": {"$ref": "http://x.org/y"}, "b": {"unknown": 1}}}')) == 3
    assert map_of('{"$ref": "http://x.org/y"}').targets[0] == NO_ROW
    for text in ("", "[", "[1]", '"a"'):
        assert NOTATIONS["json_schema"].schema_map(text, CompileOptions()) is None
    assert NOTATIONS["regex"].schema_map("a", CompileOptions()) is None


def test_the_map_survives_the_way_to_another_process(mapped: SchemaMap) -> None:
    copy = pickle.loads(pickle.dumps(mapped))
    assert (copy.names, copy.starts, copy.states) == (mapped.names, mapped.starts, mapped.states)


def test_the_rows_along_a_path_of_an_output_pass_references_and_branches() -> None:
    text = json.dumps(
        {
            "properties": {
                "who": {"$ref": "#/$defs/person"},
                "rows": {"items": {"anyOf": [{"properties": {"x": {"type": "integer"}}}, {"type": "null"}]}},
            },
            "additionalProperties": {"type": "integer"},
            "$defs": {"person": {"properties": {"child": {"$ref": "#/$defs/person"}}}},
        }
    )
    found = NOTATIONS["json_schema"].schema_map(text, CompileOptions())
    assert found is not None
    pointers = [
        sorted(map(found.pointer, frozenset().union(*found.along(path))))
        for path in (("who", "child", "child"), ("rows", 3, "x"), ("other",))
    ]
    assert pointers == [
        ["#", "#/$defs/person/properties/child", "#/properties/who"],
        ["#", "#/properties/rows", "#/properties/rows/items", "#/properties/rows/items/anyOf/0/properties/x"],
        ["#", "#/additionalProperties"],
    ]
