"""Expressions in their simplest form have the language of what they were put together from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from language import matches, nodes

from engine.export.rules.expressions import choice, depth, literal, mapped, one_of, optional, repeat, sequence, size
from engine.grammar import EMPTY, NEVER, Never, Repeat

TEXTS = ["", "a", "b", "ab", "ba", "aab", "abab", "bbb", "éa", "aaaa"]


@given(nodes(looks=False), st.sampled_from(TEXTS))
def test_what_is_put_together_again_has_the_same_language(node, text):
    assert matches(mapped(node, lambda leaf: leaf), text) == matches(node, text)


@given(st.lists(nodes(looks=False), max_size=3), st.sampled_from(TEXTS))
def test_alternatives_and_options(parts, text):
    assert matches(choice(*parts), text) == any(matches(part, text) for part in parts)
    for part in parts:
        assert matches(optional(part), text) == (text == "" or matches(part, text))


@given(nodes(looks=False), st.integers(0, 3), st.none() | st.integers(0, 2), st.sampled_from(TEXTS))
def test_a_repetition(node, minimum, more, text):
    maximum = None if more is None else minimum + more
    assert matches(repeat(node, minimum, maximum), text) == matches(Repeat(node, minimum, maximum), text)


def test_the_simplest_form():
    a, b = literal("a"), literal("b")
    assert sequence(a, repeat(a, 0, None)) == Repeat(a, 1, None)
    assert sequence(EMPTY, a) == a
    assert isinstance(sequence(a, NEVER, b), Never)
    assert choice(a, b, a) == one_of("ab")
    assert choice(EMPTY) == EMPTY
    assert (size(literal("abc")), depth(literal("abc"))) == (3, 0)
