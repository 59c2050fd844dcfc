"""A sample of heavy grammars, bounded in processor time and memory; `python -m tests.exactness.heavy` tries more."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.exactness.heavy import Trials
from tests.exactness.heavy_inputs import FAMILIES, heavy_input


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    running = Trials()
    yield running
    running.stop()


def choice(i: int) -> dict[str, object]:
    return {"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]}


def pattern(i: int) -> dict[str, object]:
    return {"type": "string", "pattern": f"a{i}|b.*{i}$"}


DOUBLING = "\n".join(["root ::= r0", *(f'r{i} ::= r{i + 1} "a" | r{i + 1}' for i in range(30)), 'r30 ::= "x"'])
UNIT_CYCLES = "\n".join(["root ::= r0", *(f'r{i} ::= r{(i + 1) % 2000} | r{i * 7 % 2000} | "a"' for i in range(2000))])
REPORTED = {
    "minProperties 20,000": ("json_schema", '{"minProperties": 20000}'),
    "minProperties 1,000,000": ("json_schema", '{"type": "object", "minProperties": 1000000}'),
    "an unknown keyword of 100 KB": ("json_schema", json.dumps({"k" * 100_000: 1})),
    "30 rules that lead twice to the next": ("gbnf", DOUBLING),
    "2,000 rules that are each another alone": ("gbnf", UNIT_CYCLES),
    "an enumeration of 50,000 strings": ("json_schema", json.dumps({"enum": [f"value {i}" for i in range(50_000)]})),
    "an enumeration of 50,000 numbers": ("json_schema", json.dumps({"enum": [i * 7919 for i in range(50_000)]})),
    "200 patterns of which one holds": ("json_schema", json.dumps({"oneOf": [pattern(i) for i in range(200)]})),
    "100 choices between required names": ("json_schema", json.dumps({"allOf": [choice(i) for i in range(100)]})),
}


@pytest.mark.parametrize("case", REPORTED)
def test_a_reported_grammar_stays_within_its_bounds(trials: Trials, case: str) -> None:
    assert trials.run(*REPORTED[case]).failed == ""


@pytest.mark.parametrize("seed", [6, 9, 10, 39, 41, 140])
def test_a_heavy_grammar_stays_within_its_bounds(trials: Trials, seed: int) -> None:
    _, notation, text = heavy_input(seed)
    assert trials.run(notation, text, seed).failed == ""


def test_every_family_has_inputs_of_less_than_a_megabyte() -> None:
    for seed in range(len(FAMILIES)):
        assert 0 < len(heavy_input(seed)[2]) < 1_000_000
