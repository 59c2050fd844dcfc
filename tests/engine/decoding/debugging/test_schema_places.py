import json

import pytest

from engine.decoding.debugging.rule_events import SchemaLocations

SCHEMA = SchemaLocations(
    json.dumps(
        {
            "properties": {"a": {"$ref": "#/$defs/t"}, "b/c": {"items": {"type": "null"}}},
            "patternProperties": {"^x": {"anyOf": [{"type": "string"}, {"$ref": "#named"}]}},
            "additionalProperties": {"prefixItems": [{"const": 1}], "items": {"const": 2}},
            "$defs": {"t": {"properties": {"again": {"$ref": "#/$defs/t"}}}, "n": {"$anchor": "named"}},
            "if": {"required": ["a"]},
        }
    )
)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), ("", "/if")),
        (("a",), ("/properties/a", "/$defs/t")),
        (("a", "again", "again"), ("/$defs/t/properties/again", "/$defs/t")),
        (("b/c", 3), ("/properties/b~1c/items",)),
        (
            ("xy",),
            ("/patternProperties/^x", "/patternProperties/^x/anyOf/0", "/patternProperties/^x/anyOf/1", "/$defs/n"),
        ),
        (("other", 0), ("/additionalProperties/prefixItems/0",)),
        (("other", 1), ("/additionalProperties/items",)),
        (("a", "nothing"), ()),
        (("a", 0), ()),
    ],
)
def test_the_places_of_a_value(path, found):
    assert SCHEMA.of(path) == found


def test_references_that_go_round_end():
    assert SchemaLocations('{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}').of(()) == ("", "/$defs/a")
    assert SchemaLocations("true").of(("a",)) == ()
    assert SchemaLocations('{"$ref": "https://elsewhere"}').of(()) == ("",)
