"""The shortest completion of JSON texts against one that tries them all, and what it says where it cannot know."""

from __future__ import annotations

import json

import pytest

from engine.automata.completion_search import search_completion
from engine.compile import CompileOptions, compile_grammar

PERSON = {
    "type": "object",
    "properties": {"n": {"type": "string", "maxLength": 2}, "a": {"type": "integer", "minimum": 10}},
    "required": ["n"],
    "additionalProperties": False,
}
LIST = {
    "type": "object",
    "properties": {"v": {"type": "number"}, "l": {"$ref": "#"}},
    "required": ["v"],
    "additionalProperties": False,
}
CASES = [
    ({"type": "null"}, ["", "n", "nul", "null"]),
    ({"enum": ["ab", "abcd", 7, [1]]}, ["", '"', '"a', '"abc', "[", "7"]),
    (PERSON, ["", "{", '{"', '{"n', '{"n":', '{"n": "x', '{"n":"x"', '{"n":"x", ', '{"n":"x","a":1', '{"n":""}']),
    (LIST, ["", '{"v":1', '{"v":-', '{"v":1,"l":{"v":2,"l":{', '{"v":1.']),
    ({"type": "array", "items": {"enum": [1, 22, 333]}, "minItems": 2}, ["", "[", "[2", "[22", "[1,", "[1,1"]),
    ({"type": "array", "items": {"enum": [1, 22, 3]}, "minItems": 3, "uniqueItems": True}, ["", "[", "[3", "[1,"]),
    ({"anyOf": [{"type": "string", "minLength": 4}, {"type": "integer", "minimum": 100}]}, ["", '"', '"\\', "1", "10"]),
    ({"type": "string", "pattern": "^[a-z]{2}-[0-9]{2}$"}, ["", '"', '"a', '"ab-0']),
    ({"type": "number", "multipleOf": 0.25, "minimum": 10.1}, ["", "1", "10.", "10.2"]),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object", "maxProperties": 2}, ["", "{", '{"a":1']),
    ({}, ["[[", '{"a":[', '"x', "-"]),
]


@pytest.mark.parametrize("whitespace", ["compact", "flexible", "one-space"])
@pytest.mark.parametrize(("schema", "prefixes"), CASES)
def test_it_is_what_trying_every_text_finds(schema, prefixes, whitespace):
    grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(whitespace=whitespace))
    automaton = grammar.automaton
    for prefix in prefixes:
        place = automaton.run(automaton.start, prefix.encode())
        if not place:  # another white space than the options allow
            continue
        found = automaton.shortest_completion(place, 2_000)
        twin = search_completion(automaton, place, 4_000)
        assert twin.is_exact
        assert (found.at_least, found.at_most) == (twin.at_least, twin.at_most)
        assert found.text is not None
        assert grammar.fullmatch(prefix.encode() + found.text)
        assert automaton.min_remaining(automaton.cursor(place)).at_least <= found.at_least


def test_levels_do_not_multiply():
    item = {"type": "object", "properties": {"id": {"type": "integer"}, "tags": {"minItems": 2}}, "required": ["tags"]}
    for _ in range(6):
        item = {"type": "array", "items": item, "minItems": 2}
    automaton = compile_grammar("json_schema", json.dumps(item)).automaton
    found = automaton.shortest_completion(automaton.start, 2_000)
    assert found.is_exact
    assert found.at_least == 64 * len('{"tags":0}') + 63 + 2 * 63


def test_a_long_text_is_not_written_out():
    item = {"type": "string", "minLength": 100}
    for _ in range(3):
        item = {"type": "array", "items": item, "minItems": 100}
    automaton = compile_grammar("json_schema", json.dumps(item)).automaton
    found = automaton.shortest_completion(automaton.start, 2_000)
    assert found.at_least == found.at_most > 1_000_000
    assert found.text is None


def test_missing_bytes_make_it_impossible():
    automaton = compile_grammar("json_schema", json.dumps(PERSON)).automaton
    alphabet = frozenset(b'{}":na')
    found = automaton.shortest_completion(automaton.start, 2_000, None, alphabet)
    assert found.text == b'{"n":""}'
    assert automaton.shortest_completion(automaton.start, 2_000, None, alphabet - set(b"}")).is_impossible
    words = compile_grammar("json_schema", '{"type": "string", "minLength": 2}').automaton
    assert words.shortest_completion(words.start, 2_000, None, frozenset(b'"')).is_impossible


def test_little_effort_gives_bounds():
    schema = {"type": "array", "items": {"type": "string", "minLength": 30}, "minItems": 9}
    automaton = compile_grammar("json_schema", json.dumps(schema)).automaton
    exact = automaton.shortest_completion(automaton.start, 2_000).at_least
    bound = automaton.shortest_completion(automaton.start, 1)
    assert bound.at_least <= exact
    assert not bound.is_exact
