"""Letters against the sets of characters that they tell apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.automata.utf8 import FINAL
from engine.grammar import CharSet
from engine.grammar.charset import EVERY_SCALAR
from engine.schema_automaton.json_encoding.character_classes import char_classes_of, common_refinement
from engine.schema_automaton.json_encoding.encoder import Escapes

INTERESTING = list('aZ"\\/\n\0\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff')
codes = st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(INTERESTING)).map(ord)
ranges = st.tuples(codes, codes).map(lambda pair: (min(pair), max(pair)))
sets = st.lists(ranges, min_size=1, max_size=4).map(CharSet.of)


@given(st.lists(sets, max_size=4), codes, codes)
def test_characters_share_a_letter_exactly_where_no_set_tells_them_apart(some, one, other):
    char_classes = char_classes_of(some, Escapes.ANY)
    alike = all((one in chars) == (other in chars) for chars in some)
    assert (char_classes.of(one) == char_classes.of(other)) is alike
    assert char_classes is char_classes_of(some, Escapes.ANY)


@given(st.lists(sets, min_size=1, max_size=4), codes)
def test_a_set_is_its_letters(some, code):
    char_classes = char_classes_of(some, Escapes.ANY)
    for chars in some:
        (row,) = char_classes.automaton(chars & EVERY_SCALAR).nodes
        assert all(target == FINAL for _, _, target in row)
        assert any(first <= char_classes.of(code) <= last for first, last, _ in row) is (code in chars)


@given(sets, sets, codes, codes)
def test_letters_in_common(mine, yours, one, other):
    each = [char_classes_of([chars], Escapes.ANY) for chars in (mine, yours, mine)]
    char_classes, parts = common_refinement(each)
    for code in (one, other):
        assert parts[char_classes.of(code)] == tuple(part.of(code) for part in each)
    assert char_classes is char_classes_of([mine, yours], Escapes.ANY)


def test_too_many_letters_are_none():
    single = [CharSet(((code, code),)) for code in range(300)]
    assert char_classes_of(single, Escapes.ANY) is None
    assert char_classes_of(single[:200], Escapes.ANY).size == 201
    assert (
        common_refinement([char_classes_of(single[:200], Escapes.ANY), char_classes_of(single[200:], Escapes.ANY)])
        is None
    )


@pytest.mark.parametrize("surrogate", [0xD800, 0xDFFF])
def test_surrogates_are_no_letters(surrogate):
    assert char_classes_of([CharSet(((0xD7FF, 0xE000),))], Escapes.ANY).of(surrogate) == -1
