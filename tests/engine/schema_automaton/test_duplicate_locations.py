"""Equal assertions of a schema: the place that is named is that of the one which the value is read with."""

import json

import pytest

from engine.automata.byte_automaton import DEAD
from engine.compile import compile_grammar
from engine.notations.json_schema.json_tree import pointers

SAID = [
    ({"type": "integer", "minimum": 3}, "4", {"type", "minimum"}),
    ({"type": "integer", "maximum": 50}, "4", {"type", "maximum"}),
    ({"type": "number", "exclusiveMinimum": 3}, "4", {"exclusiveMinimum"}),
    ({"type": "number", "exclusiveMaximum": 50}, "4", {"exclusiveMaximum"}),
    ({"type": "number", "multipleOf": 5}, "4", {"multipleOf"}),
    ({"type": "string", "pattern": "^a+$"}, '"a', {"pattern"}),
    ({"type": "string", "pattern": "^[ab]{1,40}$"}, '"a', {"pattern"}),
    ({"type": "string", "pattern": "^(ab)*$", "maxLength": 9}, '"a', {"pattern", "maxLength"}),
    ({"type": "string", "format": "date"}, '"2', {"format"}),
    ({"type": "string", "minLength": 2}, '"', {"minLength"}),
    ({"type": "string", "maxLength": 2}, '"', {"maxLength"}),
    ({"enum": ["aa", "ab"]}, '"a', {"enum"}),
    ({"const": "aa"}, '"a', {"const"}),
    ({"not": {"enum": ["aa", "ab"]}}, '"a', {"not/enum"}),
    ({"type": "array", "minItems": 2}, "[", {"minItems"}),
    ({"type": "array", "maxItems": 2}, "[", {"maxItems"}),
    ({"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}}, "[", {"uniqueItems", "items"}),
    ({"type": "array", "items": {"maximum": 4}}, "[1", {"items/maximum"}),
    ({"type": "array", "prefixItems": [{"const": "a"}]}, '["', {"prefixItems/0/const"}),
    ({"type": "object", "minProperties": 1}, "{", {"minProperties"}),
    ({"maxProperties": 1, "type": "object"}, "{", {"maxProperties"}),
    ({"type": "object", "required": ["k"]}, "{", {"required/0"}),
    ({"type": "object", "additionalProperties": False}, "{", {"additionalProperties"}),
    ({"type": "object", "propertyNames": {"maxLength": 3}}, "{", {"propertyNames"}),
    ({"type": "object", "properties": {"k": {"maximum": 3}}}, '{"k":1', {"properties/k/maximum"}),
    ({"allOf": [{"type": "integer"}, {"maximum": 50}]}, "4", {"allOf/0/type", "allOf/1/maximum"}),
    ({"anyOf": [{"maximum": 50}, {"maximum": 60}]}, "4", {"anyOf/0/maximum", "anyOf/1/maximum"}),
    ({"oneOf": [{"maximum": 50}, {"minimum": 60}]}, "4", {"oneOf/0/maximum", "oneOf/1/minimum"}),
    ({"if": {"maximum": 50}, "then": {"multipleOf": 2}}, "4", {"if/maximum", "then/multipleOf"}),
]


PLACE = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["c", "f"]}, "until": {"type": "null"}},
    "required": ["city"],
    "additionalProperties": False,
}
OPEN = {**PLACE, "additionalProperties": {"type": "null"}}
NULL = {"type": "null"}
TWO_OF_THREE = {
    "type": "object",
    "properties": {"aa": NULL, "ab": NULL, "ba": NULL},
    "minProperties": 2,
    "additionalProperties": False,
}
SIDE_BY_SIDE = {
    "anyOf": [
        {"type": "object", "properties": {"aa": NULL, "ab": NULL}, "additionalProperties": False},
        {"type": "object", "properties": {"aa": NULL, "ac": NULL}, "additionalProperties": False},
    ]
}


@pytest.mark.parametrize(
    ("schema", "text", "places"),
    [
        (PLACE, "{", {"properties/city", "required/0"}),
        (PLACE, '{"c', {"properties/city", "required/0"}),
        (PLACE, '{"city": "Rome"', {"properties/unit", "properties/until"}),
        (PLACE, '{"city": "Rome", ', {"properties/unit", "properties/until"}),
        (PLACE, '{"city": "Rome", "u', {"properties/unit", "properties/until"}),
        (PLACE, '{"city": "Rome", "unt', {"properties/until"}),
        (PLACE, '{"city": "Rome", "unit": "c"', {"properties/until"}),
        (OPEN, '{"city": "Rome", "unt', {"properties/until", "additionalProperties"}),
        (TWO_OF_THREE, '{"aa": null, "a', {"properties/ab", "minProperties"}),
        (TWO_OF_THREE, '{"ab": null, "b', {"properties/ba", "minProperties"}),
        (SIDE_BY_SIDE, '{"aa": null, "a', {"anyOf/0/properties/ab", "anyOf/1/properties/ac"}),
    ],
)
def test_before_and_in_a_key_only_the_keys_that_may_come_are_named(schema, text, places):
    assert named(schema, text) == {f"/{place}" for place in places}


def named(schema, text):
    """The JSON Pointers of what a text stands at."""
    grammar = compile_grammar("json_schema", json.dumps(schema))
    place = grammar.automaton.run(grammar.automaton.start, text.encode())
    assert place != DEAD
    return set(pointers(grammar.source, grammar.automaton.spans(place)))


@pytest.mark.parametrize(("said", "text", "keywords"), SAID, ids=[json.dumps(said) for said, _, _ in SAID])
def test_of_equal_assertions_that_of_the_value_is_named(said, text, keywords):
    schema = {
        "properties": {
            "plain": said,
            "equal": said,
            "referred": {"$ref": "#/$defs/far/properties/deep"},
            "joined": {"description": "one of them", "allOf": [said]},
            "within": {"type": "object", "properties": {"inner": said}},
        },
        "$defs": {"far": {"properties": {"deep": said}}},
    }
    for before, at in (
        ('{"plain":', "/properties/plain"),
        ('{"equal":', "/properties/equal"),
        ('{"referred":', "/$defs/far/properties/deep"),
        ('{"joined":', "/properties/joined/allOf/0"),
        ('{"within":{"inner":', "/properties/within/properties/inner"),
    ):
        assert named(schema, before + text) == {f"{at}/{keyword}" for keyword in keywords}


def test_all_that_say_so_are_named():
    schema = {
        "properties": {
            "x": {"allOf": [{"maximum": 5}, {"$ref": "#/properties/y"}, {"type": "integer"}]},
            "y": {"maximum": 5},
        }
    }
    assert named(schema, '{"x":1') == {
        "/properties/x/allOf/0/maximum",
        "/properties/y/maximum",
        "/properties/x/allOf/2/type",
    }
    assert named(schema, '{"y":1') == {"/properties/y/maximum"}


def test_places_in_a_schema_that_refers_to_itself():
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "n": {"maximum": 5}}},
            "other": {"maximum": 5},
        },
    }
    for before in ('{"n":1', '{"next":{"n":1', '{"next":{"next":{"n":1'):
        assert named(schema, before) == {"/$defs/node/properties/n/maximum"}


def test_items_are_told_apart():
    schema = {"prefixItems": [{"maximum": 5}, {"maximum": 5}], "items": {"maximum": 5}}
    assert named(schema, "[1") == {"/prefixItems/0/maximum"}
    assert named(schema, "[1,1") == {"/prefixItems/1/maximum"}
    assert named(schema, "[1,1,1") == named(schema, "[1,1,1,1") == {"/items/maximum"}


def test_states_are_shared_for_all_that():
    def states(*names):
        schema = {"properties": {name: {"type": "string", "pattern": "^a{2,9}b$"} for name in names}}
        automaton = compile_grammar("json_schema", json.dumps(schema)).automaton
        for name in names:
            place = automaton.run(automaton.start, f'{{"{name}":"'.encode())
            automaton.spans(automaton.run(place, b"aaa"))
        state, _ = automaton.stack_top(place, 1)
        return {
            automaton.stack_top(automaton.run(automaton.start, f'{{"{name}":"'.encode()), 1)[0] for name in names
        }, state

    found, state = states("x", "y", "z")
    assert found == {state}


def test_a_string_that_leaves_all_constrained_alternatives_has_no_place():
    source = json.dumps({"type": "array", "contains": {"const": "a"}})
    grammar = compile_grammar("json_schema", source)
    automaton = grammar.automaton
    places = [
        pointers(grammar.source, automaton.spans(automaton.run(automaton.start, text))) for text in (b'["a', b'["b')
    ]
    assert places == [("/contains/const",), ()]
