"""Items that must differ, where samples of values answer what a search answered before."""

import json
from random import Random
from unittest.mock import patch

import pytest

from engine.compile import compile_grammar
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.schema_automaton.string_languages.products import TextProduct

ITEMS = [
    {"type": "string", "pattern": "^[ab]{1,2}$"},
    {"enum": ["a", "b", "c", None]},
    {"type": ["boolean", "null"]},
    {"anyOf": [{"type": "string", "pattern": "^a?$"}, {"type": "boolean"}, {"const": 1}]},
    {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[ab]$"}}, "required": ["a"]},
    {"type": "string", "pattern": "^(?:ab)+$", "maxLength": 6},
]


def texts_of(automaton, seed):
    """The bytes that may follow after each step of a random walk, and whether the text may end there."""
    choose, here, steps = Random(seed), automaton.start, []
    for _ in range(40):
        row = [byte for byte in b'[]{}", :abctruefalsn1' if automaton.run(here, bytes([byte]))]
        steps.append((row, automaton.accepts(here)))
        if not row:
            break
        here = automaton.run(here, bytes([choose.choice([byte for byte in row if byte != 32] or row)]))
    return steps


@pytest.mark.parametrize(
    ("number", "least"),
    [(number, least) for number in range(len(ITEMS)) for least in (0, 3) if (number, least) != (4, 3)],
)  # the values of objects are not listed
def test_samples_answer_as_the_search_does(number, least):
    schema = json.dumps({"type": "array", "uniqueItems": True, "minItems": least, "items": ITEMS[number]})
    sampled = [texts_of(compile_grammar("json_schema", schema).automaton, seed) for seed in range(4)]
    with patch.object(SchemaSolver, "has_more_values", lambda *_: False):
        searched = [texts_of(compile_grammar("json_schema", schema).automaton, seed) for seed in range(4)]
    assert sampled == searched


def test_an_item_that_differs_is_found_without_a_product():
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "^[a-z]{2,5}(-[a-z]+)?$"}}
    automaton = compile_grammar("json_schema", json.dumps(schema)).automaton
    made = []
    build = TextProduct.__init__

    def counted(self, *arguments):
        made.append(self)
        build(self, *arguments)

    with patch.object(TextProduct, "__init__", counted):
        here = automaton.run(automaton.start, b'["ab"')
        assert automaton.accepts(automaton.run(here, b"]"))
        assert automaton.run(here, b", ")
    assert not made
    assert automaton.run(here, b', "ab-c"]')
    assert not automaton.run(here, b', "ab"')
