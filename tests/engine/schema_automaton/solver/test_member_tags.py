"""Branches of `oneOf` that exclude each other by a member are told apart without a search, and as the search does."""

import json
from random import Random
from unittest.mock import patch

import pytest

from engine.compile import compile_grammar
from engine.schema_automaton.solver.normal_form import MemberTags
from engine.schema_automaton.solver.object_machine import ObjectMachine


def branch(choose):
    """An object that may have a tag, may be closed, and shares names with others."""
    names = choose.sample("abcd", choose.randint(1, 3))
    values = [{"const": "x"}, {"enum": ["x", "y"]}, {"enum": ["z", 1]}, {"type": "integer"}, {"$ref": "#/$defs/tag"}]
    found = {"type": "object", "properties": {name: choose.choice(values) for name in names}}
    found["required"] = [name for name in names if choose.random() < 0.6]
    if choose.random() < 0.5:
        found["additionalProperties"] = False
    return found


def prefixes_of(schema, seed):
    """The texts of random walks, with what may follow each step."""
    automaton, choose, steps = compile_grammar("json_schema", json.dumps(schema)).automaton, Random(seed), []
    here = automaton.start
    for _ in range(30):
        row = [byte for byte in b'{}":, abcdxyz1' if automaton.run(here, bytes([byte]))]
        steps.append((row, automaton.accepts(here)))
        if not row:
            break
        here = automaton.run(here, bytes([choose.choice([byte for byte in row if byte != 32] or row)]))
    return steps


@pytest.mark.parametrize("seed", range(12))
def test_tags_exclude_as_the_search_does(seed):
    choose = Random(seed)
    schema = {"oneOf": [branch(choose) for _ in range(4)], "$defs": {"tag": {"type": "string", "enum": ["t", "x"]}}}
    tagged = [prefixes_of(schema, walk) for walk in range(4)]
    with patch.object(MemberTags, "exclude", lambda *_: False):
        searched = [prefixes_of(schema, walk) for walk in range(4)]
    assert tagged == searched


@pytest.mark.parametrize("closed", [False, True])
def test_the_machines_of_a_tagged_union_grow_with_its_branches(closed):
    made = []
    build = ObjectMachine.__init__

    def counted(self, *arguments):
        made.append(self)
        build(self, *arguments)

    tags = [{"properties": {"type": {"const": f"t{n}"}, f"p{n}": {}}, "required": ["type"]} for n in range(20)]
    names = [{"properties": {f"p{n}": {}}, "required": [f"p{n}"], "additionalProperties": False} for n in range(20)]
    with patch.object(ObjectMachine, "__init__", counted):
        branches = [{"type": "object", **each} for each in (names if closed else tags)]
        compile_grammar("json_schema", json.dumps({"oneOf": branches}))
    assert len(made) < 3 * 20
