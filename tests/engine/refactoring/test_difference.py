"""The difference of two texts by lines."""

from __future__ import annotations

import pytest

from engine.refactoring.difference import LineChange, line_difference

_SIGNS = {LineChange.SAME: " ", LineChange.REMOVED: "-", LineChange.ADDED: "+", LineChange.GAP: "~"}


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("a", "a", ""),
        ("a", "b", "-a +b"),
        ("a b c", "a c", " a -b  c"),
        ("a b c d e f", "a b c d e g", "~  d  e -f +g"),
        ("a b c d e f", "x b c d e f", "-a +x  b  c ~"),
        ("a b c d", "a b c x", " a  b  c -d +x"),
    ],
)
def test_lines_that_differ_are_shown_with_their_neighbours(before, after, shown):
    lines = line_difference(before.replace(" ", "\n"), after.replace(" ", "\n"))
    assert " ".join(_SIGNS[line.change] + line.text for line in lines) == shown
