"""Objects with more alternatives than are told apart, against the alternatives themselves and `jsonschema`."""

import json
from itertools import combinations, product

import jsonschema
import pytest
from catalogue_texts import shows
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import CompileOptions, GrammarError, Matcher, Vocabulary, compile_grammar
from engine.schema_automaton.solver import normal_form, solver

NAMES = "abc"
VALUES = [None, 1, 2, "x"]
OBJECTS = [
    {name: value for name, value in zip(NAMES, values, strict=True) if value != "absent"}
    for values in product([*VALUES, "absent"], repeat=len(NAMES))
]

values = st.sampled_from(
    [True, {"type": "integer"}, {"enum": [1, "x"]}, {"type": "string"}, {"const": 2}, {"type": "null"}]
)
# All name their properties in one order, so that the order of an object never decides.
schemas = st.builds(
    lambda chosen, required: {
        "properties": {name: chosen.get(name, True) for name in NAMES},
        "required": sorted(required),
    },
    st.dictionaries(st.sampled_from(NAMES), values),
    st.sets(st.sampled_from(NAMES), max_size=2),
)
choices = st.lists(schemas, min_size=2, max_size=3)
wholes = st.one_of(
    choices.map(lambda some: {"oneOf": some}),
    st.tuples(choices, choices).map(lambda pair: {"allOf": [{"anyOf": pair[0]}, {"oneOf": pair[1]}]}),
    st.tuples(choices, schemas).map(lambda pair: {"oneOf": [*pair[0], {"not": pair[1]}]}),
    st.tuples(schemas, choices).map(lambda pair: {"not": {"oneOf": [pair[0], {"anyOf": pair[1]}]}}),
)


@pytest.fixture
def conditions_only(monkeypatch):
    """No alternative is told apart that may be a condition."""
    monkeypatch.setattr(normal_form, "MOST_ALTERNATIVES", 1)
    monkeypatch.setattr(normal_form, "TOO_MANY", 1)


@settings(max_examples=60)
@given(wholes, st.sampled_from(["declared", "any"]))
def test_conditions_take_what_is_valid(schema, order):
    schema = {"type": "object", **schema}
    validator = jsonschema.Draft202012Validator(schema)
    expected = [value for value in OBJECTS if validator.is_valid(value)]
    for most in (1, 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(normal_form, "MOST_ALTERNATIVES", most)
            patch.setattr(normal_form, "TOO_MANY", most)
            grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(property_order=order))
            assert [value for value in OBJECTS if grammar.fullmatch(json.dumps(value))] == expected


def test_a_prefix_can_be_completed(conditions_only):
    """Of two alternatives that each ask for something, what both forbid is not begun."""
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"a": {"enum": [1, 2]}, "b": {"enum": [1, 2]}},
        "oneOf": [
            {"properties": {"a": {"const": 1}, "b": {"const": 1}}, "required": ["a", "b"]},
            {"properties": {"a": {"const": 2}, "b": {"const": 2}}, "required": ["a", "b"]},
        ],
    }
    grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(whitespace="compact"))
    matcher = Matcher(grammar, Vocabulary([bytes([byte]) for byte in range(256)], eos_ids=[]))
    for byte in b'{"a":2,"b":':
        assert matcher.accept(byte)
    assert [byte for byte in range(256) if matcher.is_allowed(byte)] == [ord("2")]


def test_keys_without_a_name_are_remembered(conditions_only):
    """A key that breaks a condition cannot come again and mend it."""
    schema = {
        "type": "object",
        "oneOf": [
            {"patternProperties": {"^x": {"type": "integer"}}, "required": ["a"]},
            {"patternProperties": {"^x": {"type": "string"}}, "required": ["b"]},
        ],
    }
    grammar = compile_grammar("json_schema", json.dumps(schema))
    assert grammar.fullmatch('{"a": 1, "xy": 1}')
    assert not grammar.fullmatch('{"a": 1, "xy": "s"}')
    assert not grammar.fullmatch('{"a": 1, "xy": "s", "xy": 1}')
    assert not grammar.fullmatch('{"a": 1, "b": 2, "xy": [], "xz": 1}')
    assert grammar.fullmatch('{"a": 1, "b": 2, "xy": 1, "xz": 1}')


def test_what_has_too_many_alternatives_is_refused_with_its_pointer(monkeypatch):
    monkeypatch.setattr(solver, "MOST_CONJUNCTIONS", 30)
    alternatives = [{"properties": {name: {"type": "string"} for name in names}} for names in combinations("abcde", 3)]
    schema = {"properties": {"deep": {"type": "object", "oneOf": alternatives}}}
    with pytest.raises(GrammarError) as caught:
        compile_grammar("json_schema", json.dumps(schema))
    (finding,) = caught.value.diagnostics
    assert finding.code == "schema-undecided"
    assert shows(finding.message, "errors.schema.alternatives")
    assert finding.message.startswith("/properties/deep: ")


def test_overlapping_alternatives_of_many_properties_compile():
    """Five alternatives of eight optional properties are more than 4,000 conjunctions."""
    alternatives = [
        {
            "properties": {
                "type": {"enum": [kind]},
                **{name: {"type": "string"} for name in "pqrstu"},
                f"of {kind}": {"type": "integer"},
            }
        }
        for kind in ("one", "two", "three", "four", "five")
    ]
    grammar = compile_grammar("json_schema", json.dumps({"type": "object", "oneOf": alternatives}))
    assert grammar.fullmatch('{"type": "three", "p": "x", "of three": 3}')
    assert not grammar.fullmatch('{"type": "three", "p": 1, "of three": 3}')
    assert not grammar.fullmatch('{"p": "x"}')
