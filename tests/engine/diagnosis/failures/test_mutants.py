"""The causes of 200 wrong outputs, made from right ones by a mutator that does not know how causes are found."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import jsonschema
import pytest
from mutants import MUTATIONS, Mutant, mutants

from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.failures.diagnose import diagnose

SEEDS = (1, 2)
RIGHT_AT_LEAST = 0.95


@cache
def compiled(schema: str) -> CompiledGrammar:
    return compile_grammar("json_schema", schema)


def cause_of(schema: str, output: str, finish: str) -> object:
    case = FailureCase((RequestConstraint("json_schema", schema),), output=output.encode(), finish=FinishReason(finish))
    return diagnose(case)


def fault(mutant: Mutant) -> str:
    """What is wrong with the diagnosis of a mutant; empty if nothing is."""
    found = cause_of(mutant.schema, mutant.wrong, mutant.finish)
    if found.cause not in mutant.causes:
        return f"{found.cause}/{found.detail}: {found.sentence}"
    if mutant.detail and mutant.detail != found.detail:
        return f"detail {found.detail}, not {mutant.detail}: {found.sentence}"
    if mutant.pointer and mutant.pointer not in [place.pointer for place in found.places]:
        return f"{[place.pointer for place in found.places]}, not {mutant.pointer}: {found.sentence}"
    return ""


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mutants_are_what_they_say(seed):
    made = mutants(seed)
    assert made == mutants(seed)
    assert Counter(mutant.kind for mutant in made) == Counter(
        {mutant.kind: count for (_, count), mutant in zip(MUTATIONS, firsts(made), strict=True)}
    )
    assert len(made) == 200
    for mutant in made:
        grammar = compiled(mutant.schema)
        jsonschema.validate(json.loads(mutant.right), json.loads(mutant.schema))
        assert grammar.fullmatch(mutant.right), mutant
        assert not grammar.fullmatch(mutant.wrong), mutant
        if mutant.kind == "truncation":
            assert mutant.right.startswith(mutant.wrong)
        if mutant.kind == "bound":
            errors = list(
                jsonschema.Draft202012Validator(json.loads(mutant.schema)).iter_errors(json.loads(mutant.wrong))
            )
            assert [error.validator for error in errors] == [mutant.pointer.rpartition("/")[2]], mutant


def firsts(made: tuple[Mutant, ...]) -> list[Mutant]:
    return [mutant for at, mutant in enumerate(made) if not at or made[at - 1].kind != mutant.kind]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_causes_of_mutants_are_found(seed):
    faults = {f"{at} {mutant.kind}": found for at, mutant in enumerate(mutants(seed)) if (found := fault(mutant))}
    assert len(faults) <= (1 - RIGHT_AT_LEAST) * 200, json.dumps(faults, indent=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_output_has_no_other_headline(seed):
    wrong = [
        (mutant.right, found.sentence)
        for mutant in mutants(seed)
        if (found := cause_of(mutant.schema, mutant.right, "stop")).cause != "complete"
    ]
    assert wrong == []
