"""Character sets against Python's own sets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.grammar import CharSet
from engine.source import InvariantError

PAIRS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted).map(tuple), max_size=5)


def points(pairs: list[tuple[int, int]]) -> set[int]:
    return {p for first, last in pairs for p in range(first, last + 1)}


@given(PAIRS, PAIRS)
def test_the_algebra(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    a, b = CharSet.of(one), CharSet.of(other)
    assert set(a) == points(one)
    assert set(a | b) == points(one) | points(other)
    assert set(a & b) == points(one) & points(other)
    assert set(a - b) == points(one) - points(other)
    assert ~~a == a
    assert len(a) == len(points(one))
    assert len(a) + len(~a) == 0x110000
    assert bool(a) == bool(points(one))


@pytest.mark.parametrize("ranges", [((2, 1),), ((0, 1), (2, 3)), ((5, 6), (0, 1)), ((0, 0x110000),), ((-1, 3),)])
def test_ranges_that_are_not_in_normal_form_are_refused(ranges: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(InvariantError):
        CharSet(ranges)
