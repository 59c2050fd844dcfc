"""The properties that may come next, against trying each of them."""

from __future__ import annotations

import json

import pytest

from engine.automata.byte_automaton import DEAD
from engine.automata.completion import NextProperties
from engine.compile import CompileOptions, compile_grammar

BASE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "nick": {}, "age": {"type": "integer"}, 'a"b/c': {"const": 1}},
    "required": ["name"],
}
CLOSED = {**BASE, "additionalProperties": False}
CASES = [
    BASE,
    CLOSED,
    {**BASE, "patternProperties": {"^x": {"type": "null"}}, "maxProperties": 3},
    {**BASE, "propertyNames": {"pattern": "^n"}},
    {
        "anyOf": [
            CLOSED,
            {"type": "object", "required": ["zip"], "additionalProperties": False, "properties": {"zip": {}}},
        ]
    },
    {"type": "object", "properties": {"never": False, "b": {"type": "null"}}, "minProperties": 1},
]
OTHERS = ["qq", "xq", "nq"]
PREFIXES = [
    "{",
    '{"name":"x"',
    '{"name":"x", ',
    '{"name":"x", "nick":1',
    '{"name":"x","nick":1,"age":1',
    '{"b":null',
    "[{",
    "7",
]


def named_in(schema):
    inner = [name for part in schema.get("anyOf", ()) for name in named_in(part)]
    return {*schema.get("properties", ()), *schema.get("required", ()), *inner}


@pytest.mark.parametrize("whitespace", ["flexible", "one-space", "compact"])
@pytest.mark.parametrize("schema", CASES)
def test_they_are_those_that_can_be_written(schema, whitespace):
    automaton = compile_grammar("json_schema", json.dumps(schema), CompileOptions(whitespace=whitespace)).automaton
    for prefix in PREFIXES:
        place = automaton.run(automaton.start, prefix.encode())
        if place == DEAD:
            continue
        starts = ['"', ' "'] if prefix.endswith((",", ", ", "{")) else [',"', ', "']

        def fits(name, starts=starts, place=place):
            ends = (start + json.dumps(name)[1:] + ":" for start in starts)
            return any(automaton.run(place, end.encode()) != DEAD for end in ends)

        found = automaton.next_properties(place)
        assert set(found.names) == {name for name in named_in(schema) if fits(name)}
        assert found.others == any(fits(name) for name in OTHERS)


def test_within_a_key_those_that_begin_so():
    automaton = compile_grammar("json_schema", json.dumps(CLOSED), CompileOptions(escapes="any")).automaton
    for text, names in ((b'{"n', ("name",)), (b'{"name":"x","n', ("nick",)), (b'{"name":"x","n\\u0069', ("nick",))):
        assert automaton.next_properties(automaton.run(automaton.start, text)) == NextProperties(names)


def test_elsewhere_there_are_none():
    automaton = compile_grammar("json_schema", json.dumps(CLOSED)).automaton
    for text in (b"", b'{"name"', b'{"name":', b'{"name":"x', b'{"name":"x"}'):
        assert automaton.next_properties(automaton.run(automaton.start, text)) == NextProperties()
    assert automaton.next_properties(DEAD) == NextProperties()
    words = compile_grammar("regex", '"a"').automaton
    assert words.next_properties(words.start) == NextProperties()
