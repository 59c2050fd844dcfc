"""Keys that are read along several places, in whatever order the bytes are asked for."""

import json

import pytest

from engine.automata.runtime import DEAD
from engine.compile import compile_grammar

COUNTED = {"type": "object", "minProperties": 3}
SORTED = {
    "type": "object",
    "patternProperties": {"^a": {"type": "integer"}, "b$": {"type": "boolean"}},
    "additionalProperties": {"type": "string"},
}


@pytest.mark.parametrize("asked_first", [b"", b"x", b"yz", bytes(range(0x20, 0x7F))])
def test_a_key_that_is_counted_does_not_come_twice(asked_first):
    grammar = compile_grammar("json_schema", json.dumps({"anyOf": [COUNTED, SORTED]}))
    automaton = grammar.automaton
    within = automaton.run(automaton.start, b'{"x":"s","')
    for byte in asked_first:
        automaton.step(within, byte)
    assert grammar.fullmatch('{"x":"s","y":"s","a":"s"}')
    assert not grammar.fullmatch('{"x":"s","x":"s","a":"s"}')  # the last key is none of SORTED
    assert grammar.fullmatch('{"x":"s","x":"s"}')  # COUNTED, which counts, is out then
    assert automaton.run(within, b'x":"s","a":"s"') == DEAD
