"""The number of equal items at the beginning of two sequences."""

from __future__ import annotations

import pytest

from engine.source.text import common_length


@pytest.mark.parametrize(
    ("first", "second", "length"),
    [(b"", b"a", 0), (b"ab", b"abc", 2), (b"abc", b"abd", 2), ([1, 2], (1, 2, 3), 2), ((1,), (2,), 0)],
)
def test_items_are_counted_up_to_the_first_difference(first, second, length):
    assert common_length(first, second) == common_length(second, first) == length
