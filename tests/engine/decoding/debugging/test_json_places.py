import json

import pytest

from engine.decoding.debugging.json_places import JsonScanner, SchemaPlaces


def paths(text: str):
    """After each byte: the values that read it and those that are open."""
    scanner = JsonScanner()
    return [scanner.take(byte) for byte in text.encode()]


def test_values_open_and_close():
    moments = paths('{"a": [1, "x"]}')
    begun = list(dict.fromkeys(path for moment in moments for path in moment.read))
    assert begun == [(), ("a",), ("a", 0), ("a", 1)]
    assert moments[0].open == ((),)
    assert moments[7].open == ((), ("a",), ("a", 0))
    assert moments[8].open == ((), ("a",))
    assert moments[-1].read == ((),)
    assert moments[-1].open == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"a\\"b": {"": [[], {}, null]}, "c": -1.5e3}',
        ' [ true , "\\\\" , {"k" : false} ] ',
        '"a"',
        "12",
        '{"é": "\\u00e9"}',
    ],
)
def test_every_value_of_a_text_is_met_once_and_closed(text):
    def all_of(value, path=()):
        yield path
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, member in members:
            yield from all_of(member, (*path, step))

    moments = paths(text + "\n")
    assert set(all_of(json.loads(text))) == {path for moment in moments for path in moment.read}
    assert moments[-1].open == ()


def test_what_is_no_json_is_borne():
    paths('}]],,"":{{[[x" \\')


SCHEMA = SchemaPlaces(
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
    assert SchemaPlaces('{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}').of(()) == ("", "/$defs/a")
    assert SchemaPlaces("true").of(("a",)) == ()
    assert SchemaPlaces('{"$ref": "https://elsewhere"}').of(()) == ("",)
