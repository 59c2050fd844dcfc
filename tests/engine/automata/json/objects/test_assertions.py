"""What a conjunction says of an object, sorted."""

import json

import pytest

from engine.notations.json_schema import parse
from engine.schema_automaton.formula.values import JsonType
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.source import Limits, SourceText


def case_of(schema: object) -> tuple[SchemaSolver, ObjectMachine]:
    """The only case of a schema, and its goals."""
    model, _ = parse(SourceText(json.dumps(schema)), Limits())
    goals = SchemaSolver(model.arena, Limits(), Escapes.ANY)
    (start,) = goals.entry_states(model.goal, JsonType.OBJECT)
    assert isinstance(start, ObjectState)
    return goals, start.case


def test_names_come_declared_then_required_then_mentioned():
    schema = {
        "propertyNames": {"not": {"const": "never"}},
        "required": ["late", "b"],
        "properties": {"b": {}, "a": {"type": "null"}},
    }
    _, case = case_of(schema)
    assert case.names == ("b", "a", "late", "never")
    assert case.ordered == 2
    assert case.missing(case.start) == 0b101


def test_a_name_that_may_begin_takes_no_place_in_the_order():
    _, case = case_of({"$id": "https://example.com/s.json", "properties": {"a": {}, "b": {}}, "required": ["b"]})
    assert case.names == ("a", "b", "$schema")
    assert case.ordered == 2
    assert case.candidates(case.start) == ([0, 1, 2], False)
    (begun,) = case.end_moves(case.start, 2, -1, "")
    assert case.candidates(begun.place) == ([0, 1], False)
    (behind,) = case.end_moves(begun.place, 0, -1, "")
    assert behind.place == case.end_moves(case.start, 0, -1, "")[0].place


@pytest.mark.parametrize(
    ("schema", "least", "most"),
    [
        ({"minProperties": 2, "maxProperties": 5}, 2, 5),
        ({"allOf": [{"minProperties": 2}, {"minProperties": 3}, {"maxProperties": 4}]}, 3, 4),
        ({"not": {"maxProperties": 2}, "type": "object"}, 3, None),
        ({"minProperties": 1, "required": ["a"]}, 0, None),
    ],
)
def test_counts_are_joined(schema, least, most):
    _, case = case_of(schema)
    assert (case.least, case.most) == (least, most)


def test_a_case_lives_no_longer_than_its_goals():
    goals, case = case_of({"minProperties": 1})
    assert case.goals is goals
    del goals
    with pytest.raises(ReferenceError, match="are gone"):
        case.goals  # noqa: B018 - asking is what is tested
