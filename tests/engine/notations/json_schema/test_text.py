"""The reader of JSON texts: the fast way against the one that knows places, and both against the `json` module."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notations.json_schema.json_tree import Json, JsonText, JsonTextError, pointer_to, read_json
from engine.schema_automaton.formula.values import number
from engine.source import Span, diagnostic

texts = st.text() | st.text('"\\[]{}n')
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=20,
)


def places(part: Json):
    """Every part with its place, its keys' places and its pointer."""
    yield part.pointer, part.value if not part.members and not part.items else None, part.span, part.key_spans
    for inner in (*part.members.values(), *part.items):
        assert list(inner.ancestors)[1] == part.number
        yield from places(inner)


@given(values, st.sampled_from([None, 0, 2]), st.booleans())
def test_places_that_are_looked_up_late_are_right(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    whole = read_json(text)
    alone = JsonText(text).read()
    assert list(places(whole)) == list(places(alone))
    for part in (whole, *whole.members.values(), *whole.items):
        written = json.loads(text[part.span.start : part.span.end])
        assert read_json(json.dumps(written)).to_value() == part.to_value()


@pytest.mark.parametrize(
    ("text", "variant", "start"),
    [
        ('{"a": NaN}', "value", 6),
        ('{"a": 1,}', "key", 8),
        ("[1 2]", "comma", 3),
        ('["a\nb"]', "control", 3),
        ("\ufeff{}", "value", 0),
        ("", "end", 0),
    ],
)
def test_an_error_has_its_position(text, variant, start):
    with pytest.raises(JsonTextError) as caught:
        read_json(text)
    found = caught.value.diagnostic
    fields = {"closing": "]"} if variant == "comma" else {}
    assert found.span.start == start
    assert found == diagnostic(f"schema-no-json.{variant}", found.span, **fields)


@given(values, st.sampled_from([None, 1]), st.data())
def test_the_first_error_is_the_one_that_reading_everything_finds(value, indent, data):
    text = json.dumps([value, {'a\\"{': [1, {}]}], indent=indent)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 2))
    text = text[:at] + data.draw(st.sampled_from(["", *'"x,]}{[:\\\n\u00a0', "01", "NaN"])) + text[at + cut :]
    assert error_of(lambda: read_json(text)) == error_of(lambda: JsonText(text).read())


def error_of(read):
    try:
        read()
    except JsonTextError as error:
        return error.diagnostic
    return None


def test_keys_that_stand_twice_are_told():
    text = '{"a": 1, "b": {"\\u0061": 2, "a": 3}, "a": 4}'
    whole = read_json(text)
    assert [span.start for span in whole.duplicate_keys] == [text.rindex('"a"')]
    assert [span.start for span in whole.members["b"].duplicate_keys] == [text.index('"a": 3')]
    assert whole.members["a"].span.start == text.index("4")


@pytest.mark.parametrize("depth", [299, 300, 301, 5000])
def test_deep_nesting_is_read(depth):
    part = read_json("[" * depth + "]" * depth)
    reached = 1
    while part.items:
        part = part.items[0]
        reached += 1
    assert (reached, part.pointer.count("/")) == (depth, depth - 1)


def test_deeper_nesting_than_the_limit_is_an_error():
    with pytest.raises(JsonTextError) as caught:
        read_json("[[[[0]]]]", nesting=3)
    assert caught.value.diagnostic == diagnostic("schema-too-deep", Span(3, 4), limit=3)
    assert read_json("[[[0]]]", nesting=3).pointer == ""


def test_a_place_has_a_pointer():
    whole = read_json('{"a/b": [{"c~": null}]}')
    assert pointer_to(whole.members["a/b"].items[0].members["c~"]) == "/a~1b/0/c~0"
    assert pointer_to(whole) == "the schema"


def test_numbers_of_any_size_are_read():
    for text in ("1e999999999", "-0.5E-0099999999", "9" * 6_000):
        assert read_json(f'{{"a": {text}}}').members["a"].value == number(text)
