"""Conditions of breakpoints: what each measures, when it is met, and which limits there are."""

import math

import pytest
from error_keys import raises_key

from engine.decoding.debugging.breakpoints import ConditionBreakpoint, MetCondition, met_conditions
from engine.decoding.debugging.condition import DrawnStep
from engine.decoding.debugging.conditions import CONDITIONS
from engine.decoding.debugging.conditions.loop import repetitions
from engine.decoding.values import Bounds, Step, StepOrigin
from engine.source import InvariantError
from engine.source.number_format import percent, percent_between

ONE = Bounds(1, 1)


def drawn(*, token=b"x", output=b"", left=9, z=0.5, bounds=None, rank=ONE, stacks=ONE):
    step = Step(4, token, "", 0.1, 0.2, z, 3, False, 4, StepOrigin.SAMPLER, 0, z_bounds=bounds)
    return DrawnStep(step, output, left, lambda: rank, lambda _most: stacks)


@pytest.mark.parametrize(
    ("condition", "limit", "step", "value"),
    [
        ("allowed-mass", 0.01, drawn(z=0.009), Bounds(0.009, 0.009)),
        ("allowed-mass", 0.01, drawn(z=0.01), None),
        ("allowed-mass", 0.01, drawn(z=None, bounds=Bounds(0.0, 0.2)), Bounds(0.0, 0.2)),
        ("allowed-mass", 0.01, drawn(z=None, bounds=Bounds(0.01, 0.2)), None),
        ("rank", 10, drawn(rank=Bounds(11, 11)), Bounds(11, 11)),
        ("rank", 10, drawn(rank=Bounds(10, 10)), None),
        ("rank", 10, drawn(rank=Bounds(6, 900)), Bounds(6, 900)),
        ("rank", 10, drawn(rank=None), None),
        ("stacks", 2, drawn(stacks=Bounds(3, math.inf)), Bounds(3, math.inf)),
        ("stacks", 2, drawn(stacks=Bounds(2, 2)), None),
        ("stacks", 2, drawn(stacks=None), None),
        ("loop", 3, drawn(output=b"go. " + b"abcdefgh" * 3 + b"abcdefg", token=b"h"), Bounds(4, 4)),
        ("loop", 3, drawn(output=b"go. " + b"abcdefgh" * 3, token=b"a"), None),
        ("budget", 10, drawn(left=9), Bounds(9, 9)),
        ("budget", 9, drawn(left=9), None),
    ],
)
def test_a_condition_is_met_beyond_its_limit_or_where_it_may_be(condition, limit, step, value):
    one = ConditionBreakpoint(condition, limit)
    assert met_conditions((one,), step) == (() if value is None else (MetCondition(one, value),))
    assert met_conditions((ConditionBreakpoint(condition, limit, enabled=False),), step) == ()


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"", 1),
        (b"a" * 23, 1),
        (b"a" * 24, 24),
        (b"x" + b"ab, " * 6, 6),
        (b"ab, " * 6 + b"x", 1),
        (bytes(range(60)) * 2, 2),
        (bytes(range(65)) * 2, 1),
        (b"a" * 90_000, 101),
    ],
)
def test_repetitions_are_of_one_text_at_the_end(data, count):
    assert repetitions(data) == count


def test_a_condition_names_its_value_and_its_limit():
    mass, rank = CONDITIONS["allowed-mass"], CONDITIONS["rank"]
    assert percent(0.001) in mass.met_text(Bounds(0.001, 0.001), 0.01)
    assert percent_between(0.001, 0.25) in mass.met_text(Bounds(0.001, 0.25), 0.01)
    assert percent(0.01) in mass.met_text(Bounds(0.001, 0.25), 0.01)
    assert "1,234" in rank.met_text(Bounds(1234, 1234), 10)
    texts = {rank.met_text(value, 10) for value in (Bounds(11, 11), Bounds(11, 20), Bounds(11, math.inf))}
    assert len(texts) == 3


@pytest.mark.parametrize("limit", [0, 0.4, -1, 1e9, math.nan, math.inf])
def test_a_limit_has_bounds(limit):
    with raises_key(InvariantError, "errors.decoding.condition.limit"):
        ConditionBreakpoint("rank", limit)


def test_a_condition_that_does_not_exist_is_refused():
    with raises_key(InvariantError, "errors.decoding.condition.unknown"):
        ConditionBreakpoint("mood", 1)


@pytest.mark.parametrize("kind", CONDITIONS, ids=lambda kind: kind.name)
def test_each_has_texts_and_a_limit_within_its_bounds(kind):
    assert kind.title
    assert kind.tip
    assert ConditionBreakpoint(kind.name, kind.default).kind is kind
