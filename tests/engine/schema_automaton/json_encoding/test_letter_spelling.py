"""How character classes are spelled, against the spelling of each character."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.grammar import CharSet
from engine.schema_automaton.json_encoding.character_classes import char_classes_of
from engine.schema_automaton.json_encoding.class_encoder import class_encoding_of
from engine.schema_automaton.json_encoding.encoder import Escapes, spellings

INTERESTING = list('aZ"\\/\n\0\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff')
codes = st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(INTERESTING)).map(ord)
ranges = st.tuples(codes, codes).map(lambda pair: (min(pair), max(pair)))
sets = st.lists(ranges, min_size=1, max_size=4).map(CharSet.of)


def ways(code):
    character = chr(code)
    units = character.encode("utf-16-be")
    escaped = "".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2)).encode()
    return [json.dumps(character, ensure_ascii=flag)[1:-1].encode() for flag in (True, False)] + [escaped]


def read(spelling, data):
    """The character class that some bytes spell; None where they spell none."""
    place = 0
    for index, byte in enumerate(data):
        place = int(spelling.table[place, byte])
        if place == 0:
            return None
        if place >= spelling.nodes:
            return place - spelling.nodes if index == len(data) - 1 else None
    return None


def is_listed(way, code, escapes):
    return any(
        len(way) == len(listed) and all(byte in position for byte, position in zip(way, listed, strict=True))
        for listed in spellings(code, escapes)
    )


@given(st.lists(sets, max_size=3), st.lists(codes, min_size=1, max_size=5), st.sampled_from(Escapes))
def test_every_listed_spelling_of_a_character_is_read_as_its_letter(some, characters, escapes):
    char_classes = char_classes_of(some, escapes)
    spelling = class_encoding_of(char_classes)
    for code in characters:
        for way in ways(code):
            assert read(spelling, way) == (char_classes.of(code) if is_listed(way, code, escapes) else None)
            assert read(spelling, way[:-1]) is None


@given(codes)
def test_what_is_spelled_in_the_shortest_way_costs_as_much_as_in_any(code):
    chars = [CharSet(((code, code),))]
    shortest, every = (
        class_encoding_of(char_classes_of(chars, escapes)).costs(None)[0] for escapes in (Escapes.SHORTEST, Escapes.ANY)
    )
    np.testing.assert_array_equal(shortest, every)


@pytest.mark.parametrize("escapes", Escapes)
def test_what_spells_nothing(escapes):
    spelling = class_encoding_of(char_classes_of([CharSet.chars("aé")], escapes))
    for wrong in (b'"', b"\x1f", b"\\x", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\x80"):
        assert read(spelling, wrong) is None
    for half in (rb"\ud800", rb"\udc00", rb"\ud800a", rb"\ud800\u0061", rb"\udc00\udc00"):
        assert read(spelling, half) is None


@given(st.lists(sets, max_size=3), st.sampled_from(Escapes))
def test_from_a_place_those_letters_may_be_read_that_are_reached(some, escapes):
    char_classes = char_classes_of(some, escapes)
    spelling = class_encoding_of(char_classes)
    costs = spelling.costs(None)
    for place in range(spelling.nodes):
        targets = {int(target) for target in spelling.table[place]} - {0}
        expected = np.full(char_classes.size, np.inf)
        for target in targets:
            behind = np.arange(char_classes.size) == target - spelling.nodes
            one = np.where(behind, 0, np.inf) if target >= spelling.nodes else costs[target]
            expected = np.minimum(expected, 1 + one)
        np.testing.assert_array_equal(costs[place], expected)
        reached = {int(spelling.part_of[part]) for part in np.flatnonzero(spelling.reach[place])}
        assert reached == set(np.flatnonzero(costs[place] < np.inf).tolist())
        if place:
            assert {target for target in targets if target < spelling.nodes} <= set(spelling.below[place])
