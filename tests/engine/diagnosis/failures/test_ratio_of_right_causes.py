"""The share of right diagnoses of the cases in `tests/diagnosis_cases`; right outputs have no headline."""

from __future__ import annotations

import pytest

from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.failures.diagnose import diagnose
from tests.diagnosis_cases.ratio import Answer, score, wrong_headlines
from tests.diagnosis_cases.wrong_outputs import cases, held_out_cases

LEAST_RATIO = 0.95


def judge(notation, grammar, output, finish, budget):
    constraints = (RequestConstraint(notation, grammar),)
    data = output if isinstance(output, bytes) else output.encode()
    case = FailureCase(constraints=constraints, output=data, finish=FinishReason(finish or ""), max_tokens=budget)
    found = diagnose(case)
    pointers = tuple(place.pointer for place in found.places if place.pointer is not None)
    return Answer(found.cause, found.detail, pointers)


@pytest.mark.parametrize("make", [cases, held_out_cases])
def test_nearly_all_causes_are_right(make):
    result = score(make(), judge)
    assert result.ratio >= LEAST_RATIO, str(result)


@pytest.mark.parametrize("make", [cases, held_out_cases])
def test_no_right_output_has_a_headline(make):
    assert wrong_headlines(make(), judge) == []
