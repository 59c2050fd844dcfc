"""The shape of the tree, and that each node knows its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.grammar import Chars, CharSet, Choice, Empty, Lookaround, Node, Repeat, Sequence
from engine.notations.regex.dialect import Dialect
from engine.notations.regex.parser import parse
from engine.source import GrammarError, Limits, SourceText, Span


def read(pattern: str, dialect: Dialect = Dialect.PYTHON) -> Node:
    return parse(SourceText(pattern), dialect, Limits())[0]


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence(items):
            return items
        case Choice(alternatives):
            return alternatives
        case Repeat(body) | Lookaround(body):
            return (body,)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from walk(child)


def test_a_tree_is_what_was_written() -> None:
    a, b = (CharSet.chars(letter) for letter in "ab")
    assert read("a(?:b|)*") == Sequence(
        (
            Chars(a, Span(0, 1)),
            Repeat(Choice((Chars(b, Span(4, 5)), Empty(Span(6, 6))), Span(1, 7)), 0, None, Span(1, 8)),
        ),
        Span(0, 8),
    )


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        (r"a[b-c]\d\x41.", ["a", "[b-c]", r"\d", r"\x41", "."]),
        ("(?P<n>ab)c", ["(?P<n>ab)", "c"]),
        ("(a)*b{2}?", ["(a)*", "b{2}?"]),
        (r"(?<!a)b\b$", ["(?<!a)", "b", r"\b", "$"]),
        ("a(?#c)b", ["a", "b"]),
        ("(?x) a * b # c", ["a *", "b"]),
        ("()x", ["()", "x"]),
        ("a{0}b", ["a{0}", "b"]),
    ],
)
def test_an_item_spans_its_text(pattern: str, places: list[str]) -> None:
    source = SourceText(pattern)
    assert [source.excerpt(node.span) for node in children(read(pattern))] == places


@pytest.mark.parametrize(
    ("pattern", "minimum", "maximum"),
    [
        ("a*", 0, None),
        ("a+?", 1, None),
        ("a??", 0, 1),
        ("a{3}", 3, 3),
        ("a{2,}", 2, None),
        ("a{,4}?", 0, 4),
        ("a{,}", 0, None),
    ],
)
def test_a_quantifier_counts(pattern: str, minimum: int, maximum: int | None) -> None:
    node = read(pattern)
    assert isinstance(node, Repeat)
    assert (node.minimum, node.maximum) == (minimum, maximum)


@pytest.mark.parametrize("pattern", ["{", "a{", "a{}", "a{b}", "a{1,b}", "a{1", "}", "]"])
def test_a_brace_that_counts_nothing_is_text_in_python(pattern: str) -> None:
    nodes = list(walk(read(pattern)))
    assert not any(isinstance(node, Repeat) for node in nodes)
    assert "".join(chr(next(iter(node.set))) for node in nodes if isinstance(node, Chars)) == pattern


@given(st.text("ab()[]|*?.^$\\d{1,2}", max_size=12), st.sampled_from(Dialect))
def test_a_child_lies_within_its_parent(pattern: str, dialect: Dialect) -> None:
    try:
        root = read(pattern, dialect)
    except GrammarError:
        return
    assert root.span.end <= len(pattern)
    for node in walk(root):
        assert all(node.span.cover(child.span) == node.span for child in children(node))
