"""A cached result counts as many turns as it took to compute."""

import pytest

from engine.source import CancelToken, LimitExceededError, checkpoint, counted_cache, limited_work, work_turns
from engine.source.cancel import TURNS_PER_REPORT


def function(calls):
    @counted_cache()
    def inner(turns):
        calls.append(turns)
        checkpoint(turns)
        return turns * 2

    @counted_cache(maxsize=1)
    def outer(turns):
        checkpoint(5)
        return inner(turns) + 1

    return outer


def test_a_cached_result_counts_as_many_turns_as_a_computed_one():
    calls, counts = [], []
    outer = function(calls)
    for _ in range(3):
        with limited_work("errors.limit.frames", 1000):
            assert outer(100) == 201
            counts.append(work_turns())
    assert calls == [100]
    assert counts == [105, 105, 105]


def test_what_was_computed_without_a_limit_counts_too():
    outer = function([])
    outer(100)
    with limited_work("errors.limit.frames", 1000):
        outer(100)
        assert work_turns() == 105


def test_a_limit_stops_a_computed_and_a_cached_result_alike():
    outer = function([])
    for _ in range(2):
        with pytest.raises(LimitExceededError), limited_work("errors.limit.frames", 300):
            outer(2000)
        outer(2000)


def test_a_computed_result_is_reported_once():
    reports = []
    cancel = CancelToken(lambda _what, done, _total: reports.append(done))
    cancel.begin("errors.limit.frames")
    with cancel.scope():
        function([])(3 * TURNS_PER_REPORT)
    assert max(reports) < 4 * TURNS_PER_REPORT
