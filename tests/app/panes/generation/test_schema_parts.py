"""The parts of a schema that a run may be told to leave."""

import json

from app.panes.generation.schema_parts import LONGEST, MOST_PARTS, schema_parts
from engine.decoding.debugging.rule_events import SchemaLocations

SCHEMA = {
    "properties": {
        "a/b": {"items": {"type": "string"}},
        "c": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/t"}]},
    },
    "additionalProperties": False,
    "$defs": {"t": {"enum": [{"properties": {"no": {}}}]}},
}


def test_parts_are_listed_in_the_texts_order():
    assert schema_parts(json.dumps(SCHEMA)) == (
        "/properties/a~1b",
        "/properties/a~1b/items",
        "/properties/c",
        "/properties/c/anyOf/0",
        "/properties/c/anyOf/1",
        "/$defs/t",
    )


def test_the_names_are_those_that_a_run_is_told_of():
    places = SchemaLocations(json.dumps(SCHEMA))
    told = {*places.of(("a/b",)), *places.of(("a/b", 0)), *places.of(("c",))}
    assert told == set(schema_parts(json.dumps(SCHEMA)))


def test_what_cannot_be_listed_is_left_to_be_typed():
    assert schema_parts("") == schema_parts("true") == schema_parts("[" * 9_999) == ()
    assert schema_parts(json.dumps({"properties": {"a": {}}}) + " " * LONGEST) == ()
    assert len(schema_parts(json.dumps({"anyOf": [{}] * (MOST_PARTS + 9)}))) == MOST_PARTS
