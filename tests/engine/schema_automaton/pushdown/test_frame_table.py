"""Frames that are made together: held against making each when it is asked for."""

import json

import pytest

from engine.compile import compile_grammar
from engine.schema_automaton.solver.object_machine import ObjectMachine

NAME = {"type": "string"}
SCHEMAS = {
    "open": ({"properties": {"a": NAME, "b": {"type": "integer"}}}, ['{"a":"x","b":1,"c":[]}', '{"b":2,"a":1}', "{}"]),
    "closed, the last one": (
        {"properties": {"a": NAME}, "required": ["a"], "additionalProperties": False},
        ['{"a":"x"}', '{"a":"x","a":"y"}', "{}"],
    ),
    "two keys lead to one place": (
        {"properties": {"a": {"type": "boolean"}}, "patternProperties": {"^x": NAME}},
        ['{"a":true,"x":"","xx":""}', '{"x":"","a":1}'],
    ),
    "nothing is a value": (
        {"properties": {"a": False, "b": {"enum": [1, None]}}},
        ['{"b":null}', '{"b":1,', '{"a":1}'],
    ),
    "under two goals": (
        {
            "anyOf": [
                {"properties": {"a": {"properties": {"b": {"const": 1}}}}},
                {"properties": {"a": {"type": "null"}}},
            ]
        },
        ['{"a":{"b":1}}', '{"a":{"b":2}}', '{"a":null}'],
    ),
    "counted": ({"properties": {"a": NAME}, "minProperties": 2}, ['{"a":"","b":1}', '{"a":""}']),
}


def _along(schema, texts):
    """What may come next before each byte of some texts, as far as they go."""
    automaton = compile_grammar("json_schema", json.dumps(schema)).automaton
    found = []
    for text in texts:
        configuration = automaton.start
        for byte in text.encode():
            found.append((automaton.expected(configuration), automaton.accepts(configuration)))
            configuration = automaton.run(configuration, bytes((byte,)))
        found.append(automaton.accepts(configuration))
    return found


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_frames_of_a_member_are_what_each_is_by_itself(name, monkeypatch):
    schema, texts = SCHEMAS[name]
    together = _along(schema, texts)
    monkeypatch.setattr(ObjectMachine, "is_plain", False)  # then each frame is made by itself
    assert together == _along(schema, texts)
