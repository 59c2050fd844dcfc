"""Intervals and tests against published values, and two sets of outputs compared."""

from __future__ import annotations

import pytest

from engine.decoding.comparison import (
    compare_outcomes,
    mean_difference,
    paired_p_value,
    share_difference,
    share_interval,
)
from engine.decoding.values import Bounds, Finish, SampleOutcome


def outcomes(matching, total, price=1.0):
    return [
        SampleOutcome(seed, "a", Finish.STOP, seed < matching, 3 + seed % 2, price=None if price is None else price)
        for seed in range(total)
    ]


def test_intervals_are_those_of_the_literature():
    # Newcombe 1998 (Statistics in Medicine 17), table II, method 10: 56/70 - 48/80, and its single shares.
    assert share_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert share_interval(0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert share_difference((48, 80), (56, 70)) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    assert share_interval(0, 0) == (0.0, 1.0)


def test_the_difference_of_means_is_that_of_welch():
    first, second = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9], [27.1, 22.0, 20.8, 23.4, 23.4, 23.5]
    low, high = mean_difference(first, second)
    assert (low + high) / 2 == pytest.approx(2.3667, abs=1e-3)
    assert high - low == pytest.approx(2 * 2.325 * 1.8352, abs=0.01)  # 7.64 degrees of freedom
    assert mean_difference([1.0], [2.0, 3.0]) is None
    assert mean_difference([1.0, 1.0], [2.0, 2.0]) == (1.0, 1.0)


@pytest.mark.parametrize(("only_first", "only_second", "p"), [(0, 0, 1.0), (1, 9, 22 / 1024), (9, 1, 22 / 1024)])
def test_paired_answers_are_compared_by_the_binomial_distribution(only_first, only_second, p):
    assert paired_p_value(only_first, only_second) == pytest.approx(p)


def test_two_sets_of_outputs_differ_where_it_is_shown():
    found = {one.name: one for one in compare_outcomes(outcomes(20, 100), outcomes(60, 100))}
    assert found["matching"].differs
    assert found["matching"].difference.low > 0
    assert not found["finished"].differs
    assert not found["tokens"].differs
    assert found["price"].difference == Bounds(0.0, 0.0)


def test_prices_are_compared_only_if_all_are_known():
    assert "price" not in {one.name for one in compare_outcomes(outcomes(1, 9), outcomes(1, 9, price=None))}
