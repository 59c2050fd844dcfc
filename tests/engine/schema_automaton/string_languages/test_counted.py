"""Patterns without what they count, against Python's `re` and the length that is told."""

import re
from itertools import product

import pytest

from engine.grammar.simplify import simplify
from engine.schema_automaton.string_languages.length_counter import fixed_length, without_count
from tests.engine.schema_automaton.string_formulas import node_of


@pytest.mark.parametrize(
    ("pattern", "endless", "least", "most"),
    [
        ("^a{0,16}$", "a*", 0, 16),
        ("^[ab]{1,40}$", "[ab]*", 1, 40),
        ("^b[ab]{2,30}a$", "b[ab]*a", 4, 32),
        ("^(?:ab|ba)a{1,17}b{2}$", "(?:ab|ba)a*b{2}", 5, 21),
    ],
)
def test_what_a_pattern_counts_is_a_length(pattern, endless, least, most):
    found = without_count(simplify(node_of(pattern)))
    assert found is not None
    assert (found.least, found.most) == (least, most)
    assert repr(found.node) != repr(simplify(node_of(pattern)))
    for text in map("".join, (letters for n in range(7) for letters in product("ab", repeat=n))):
        counted = re.fullmatch(pattern[1:-1], text) is not None
        assert counted is (re.fullmatch(endless, text) is not None and least <= len(text) <= most)


@pytest.mark.parametrize(
    "pattern",
    ["^a{0,15}$", "^a*$", "^a{3,}$", "^a{20}$", "^(?:ab){1,20}$", "^a{1,20}b{1,20}$", "a{1,20}", "^a{1,20}b?$", "^$"],
)
def test_patterns_that_are_left_as_they_are(pattern):
    assert without_count(simplify(node_of(pattern))) is None


@pytest.mark.parametrize(
    ("pattern", "length"),
    [("^$", 0), ("^a$", 1), ("^(?:a|b)c$", 2), ("^(?:ab){3}$", 6), ("^a?$", None), ("^a|bc$", None)],
)
def test_fixed_lengths(pattern, length):
    assert fixed_length(simplify(node_of(pattern))) == length
