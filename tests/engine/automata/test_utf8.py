"""UTF-8 automata against Python's own encoder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.automata.byte_classes import ByteClasses, join_ranges
from engine.automata.utf8 import FINAL, Utf8Automaton, utf8_automaton
from engine.grammar import CharSet

SCALARS = CharSet(((0, 0xD7FF), (0xE000, 0x10FFFF)))
EDGES = (0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, 0x10FFFF)


def reads(automaton: Utf8Automaton, data: bytes) -> bool:
    node: int | None = 0
    for index, byte in enumerate(data):
        node = automaton.step(node, byte)
        if node is None:
            return False
        if node == FINAL:
            return index == len(data) - 1
    return False


@st.composite
def charsets(draw: st.DrawFn) -> CharSet:
    point = st.one_of(st.sampled_from(EDGES), st.integers(0, 0x10FFFF))
    pairs = draw(st.lists(st.tuples(point, point), max_size=6))
    return CharSet.of((min(pair), max(pair)) for pair in pairs) & SCALARS


@given(charsets(), st.lists(st.integers(0, 0x10FFFF), max_size=20))
def test_it_reads_the_encoding_of_its_characters_only(chars: CharSet, points: list[int]) -> None:
    automaton = utf8_automaton(chars)
    near = [p + d for pair in chars.ranges for p in pair for d in (-1, 0, 1)]
    for point in {*points, *near, *EDGES}:
        if point in SCALARS:
            assert reads(automaton, chr(point).encode()) == (point in chars), hex(point)


@given(st.binary(min_size=1, max_size=4))
def test_every_scalar_value_is_read_and_no_other_bytes_are(data: bytes) -> None:
    try:
        valid = len(data.decode("utf-8")) == 1
    except UnicodeDecodeError:
        valid = False
    assert reads(utf8_automaton(SCALARS), data) == valid


@given(st.lists(charsets(), max_size=3))
def test_bytes_of_one_class_are_never_told_apart(sets: list[CharSet]) -> None:
    automata = [utf8_automaton(chars) for chars in sets]
    classes = ByteClasses.of(automata)
    for automaton in automata:
        for node in range(len(automaton.nodes)):
            for byte in range(256):
                representative = classes.representatives[classes.of_byte[byte]]
                assert automaton.step(node, byte) == automaton.step(node, representative)
    assert join_ranges(classes.ranges) == ((0, 255),)


def test_what_behaves_alike_is_one_class() -> None:
    automaton = utf8_automaton(CharSet.of([(ord("a"), ord("z")), (ord("A"), ord("Z"))]))
    assert len(ByteClasses.of([automaton])) == 2


@pytest.mark.parametrize("chars", [CharSet.chars("é"), CharSet.of([(0x4E00, 0x9FFF)]), SCALARS])
def test_equal_remainders_are_one_node(chars: CharSet) -> None:
    nodes = utf8_automaton(chars).nodes[1:]
    assert len(set(nodes)) == len(nodes)
