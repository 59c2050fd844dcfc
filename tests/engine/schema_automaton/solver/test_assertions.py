"""What a conjunction says of an object, sorted."""

import json

import pytest

from engine.notations.json_schema.parser import parse
from engine.schema_automaton.formula.values import JsonType
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.schema_automaton.string_languages.language import EnumLanguage
from engine.source import Limits, SourceText


def entry_of(schema: object, kind: JsonType) -> tuple[SchemaSolver, object]:
    """The solver of a schema, and the only start of its values of a type."""
    model, _ = parse(SourceText(json.dumps(schema)), Limits())
    solver = SchemaSolver(model.arena, Limits(), Escapes.ANY)
    (start,) = solver.entry_states(model.goal, kind)
    return solver, start


def machine_of(schema: object) -> tuple[SchemaSolver, ObjectMachine]:
    """The only machine of a schema, and its solver."""
    solver, start = entry_of(schema, JsonType.OBJECT)
    assert isinstance(start, ObjectState)
    return solver, start.machine


def test_names_come_declared_then_required_then_mentioned():
    schema = {
        "propertyNames": {"not": {"const": "never"}},
        "required": ["late", "b"],
        "properties": {"b": {}, "a": {"type": "null"}},
    }
    _, machine = machine_of(schema)
    assert machine.names == ("b", "a", "late", "never")
    assert machine.ordered == 2
    assert machine.missing(machine.start) == 0b101


def test_a_name_that_may_begin_takes_no_place_in_the_order():
    _, machine = machine_of({"$id": "https://example.com/s.json", "properties": {"a": {}, "b": {}}, "required": ["b"]})
    assert machine.names == ("a", "b", "$schema")
    assert machine.ordered == 2
    assert machine.candidates(machine.start) == ([0, 1, 2], False)
    (begun,) = machine.transitions_after(machine.start, 2, -1, "")
    assert machine.candidates(begun.state) == ([0, 1], False)
    (behind,) = machine.transitions_after(begun.state, 0, -1, "")
    assert behind.state == machine.transitions_after(machine.start, 0, -1, "")[0].state


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
    _, machine = machine_of(schema)
    assert (machine.least, machine.most) == (least, most)


def test_a_machine_lives_no_longer_than_its_solver():
    solver, machine = machine_of({"minProperties": 1})
    assert machine.solver is solver
    del solver
    with pytest.raises(ReferenceError, match="of this machine is gone"):
        machine.solver  # noqa: B018 - asking is what is tested


@pytest.mark.parametrize(
    ("beside", "left"),
    [
        ({"not": {"pattern": "^b"}}, ("a1", "c3")),
        ({"pattern": "^b"}, ("b2",)),
        ({"pattern": "^.[12]$", "enum": ["c3", "b2"]}, ("b2",)),
    ],
)
def test_constants_beside_a_condition_are_a_list(beside, left):
    constants = {"anyOf": [{"const": "a1"}, {"const": "b2"}, {"enum": ["c3", 4]}]}
    _, language = entry_of({**constants, **beside}, JsonType.STRING)
    assert isinstance(language, EnumLanguage)
    assert language.listing.names == left
