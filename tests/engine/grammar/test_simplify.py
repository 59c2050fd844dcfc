"""Simplifying keeps the language, and takes out what its place decides."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from language import ALPHABET, matches, nodes

from engine.grammar import Chars, CharSet, Choice, Empty, Lookaround, Never, Node, Repeat, Sequence
from engine.grammar.simplify import simplify
from engine.notations.regex.parser import parse
from engine.source import Limits, SourceText

TEXTS = ["".join(chars) for length in range(5) for chars in product(ALPHABET, repeat=length)]


def parts(node: Node) -> list[Node]:
    match node:
        case Sequence():
            return [node, *(p for item in node.items for p in parts(item))]
        case Choice():
            return [node, *(p for item in node.alternatives for p in parts(item))]
        case Repeat() | Lookaround():
            return [node, *parts(node.node)]
        case _:
            return [node]


def pattern(text: str) -> Node:
    return simplify(parse(SourceText(text), "python", Limits())[0])


@settings(max_examples=75, suppress_health_check=[HealthCheck.too_slow])
@given(nodes(looks=True))
def test_the_language_stays(node: Node) -> None:
    simple = simplify(node)
    for text in TEXTS:
        assert matches(simple, text) == matches(node, text), text


@settings(max_examples=75, suppress_health_check=[HealthCheck.too_slow])
@given(nodes(looks=True))
def test_nothing_impossible_is_left_inside(node: Node) -> None:
    simple = simplify(node)
    assert isinstance(simple, Never) or not any(isinstance(part, Never) for part in parts(simple))


@pytest.mark.parametrize(
    "text",
    ["^a$", r"\Aa\Z", "^a|^b$", "(^a|b)$", "^(?:^a)$", "(?m)^a$", "^$", r"^(?!tag)$", r"\ba", "(?<!x)a", "a(?!b)"],
)
def test_a_condition_that_its_place_decides_is_gone(text: str) -> None:
    looks = [part for part in parts(pattern(text)) if isinstance(part, Lookaround)]
    assert not [look for look in looks if not _is_word_look(look)], looks


def _is_word_look(look: Lookaround) -> bool:
    """`\\b` at the start leaves "a word character follows", which only the next character decides."""
    return isinstance(look.node, Chars) and ord("a") in look.node.set


@pytest.mark.parametrize("text", ["a^", r"a\Ab", "(?=b)a(?!)", "a(?<=b(?!))"])
def test_what_its_place_makes_impossible_is_never(text: str) -> None:
    assert isinstance(pattern(text), Never)


@pytest.mark.parametrize("text", ["a{0}", "(?:)", "(?:)*", "()|()"])
def test_what_can_only_be_empty_is_small(text: str) -> None:
    assert all(isinstance(part, Empty | Choice | Sequence | Repeat) for part in parts(pattern(text)))


def test_surrogates_are_taken_out_of_a_class() -> None:
    simple = simplify(Chars(CharSet(((0xD000, 0xE000),))))
    assert isinstance(simple, Chars)
    assert simple.set.ranges == ((0xD000, 0xD7FF), (0xE000, 0xE000))
    assert isinstance(simplify(Chars(CharSet(((0xD800, 0xDFFF),)))), Never)
