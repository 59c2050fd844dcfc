"""Texts folded into one edge, against reading the automaton byte by byte."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph.match.chains import fold_texts
from app.graph.match.folding import fold_characters
from engine.compile import compile_grammar


def folded(pattern, kept=()):
    dfa = compile_grammar("regex", pattern).materialise(2000)
    return dfa, fold_texts(dfa, fold_characters(dfa), kept)


def test_a_text_is_one_edge_and_its_states_know_it():
    dfa, found = folded('"children":[0-9]')
    assert len(found.inner) == 10
    assert {text for said in found.texts.values() for text in said} == {'"children":'}
    ((key,),) = [{*found.within.values()}]
    assert key[0] == dfa.start
    assert found.within.keys() == found.inner


def test_a_text_has_the_places_of_all_of_its_characters():
    dfa, found = folded("abc[0-9]")
    (key,) = found.texts
    spans = {span for edge in dfa.edges if edge.source in {key[0], *found.inner} for span in edge.spans}
    assert len(spans) == 3
    assert {edge.spans for edge in found.edges if (edge.source, edge.target) == key} == {tuple(sorted(spans))}


def test_texts_between_the_same_states_stand_on_one_edge():
    _, found = folded("(?:leather|mail|ox|u)[0-9]")
    ((key, said),) = found.texts.items()
    assert sorted(said) == ["leather", "mail", "ox"]
    assert {edge.ranges for edge in found.edges if (edge.source, edge.target) == key} == {((0x75, 0x75),)}


def test_characters_beyond_ascii_belong_to_a_text():
    _, found = folded("[0-9]naïve[0-9]")
    assert [*found.texts.values()] == [("naïve",)]


def test_what_accepts_branches_or_joins_ends_a_text():
    _, found = folded("ab(?:cd|ce)?")
    assert sorted(text for said in found.texts.values() for text in said) == ["ab"]


def test_an_edge_that_is_kept_ends_a_text():
    dfa = compile_grammar("regex", "abcd").materialise(99)
    called = next((edge.source, edge.target) for edge in dfa.edges if edge.ranges == ((0x63, 0x63),))
    found = fold_texts(dfa, None, [called])
    assert [*found.texts.values()] == [("ab",)]


def test_without_a_text_nothing_changes():
    dfa = compile_grammar("regex", "[a-z]*").materialise(99)
    assert fold_texts(dfa, None, ()) is None
    dfa = compile_grammar("regex", "[à-ü]*").materialise(99)
    fold_of_characters = fold_characters(dfa)
    assert fold_texts(dfa, fold_of_characters, ()) is fold_of_characters


_WORDS = st.lists(st.text("ab", min_size=1, max_size=5), min_size=1, max_size=6)


@given(_WORDS)
def test_the_ways_through_a_folded_automaton_spell_its_language(words):
    dfa, found = folded("|".join(map(re.escape, words)))
    if found is None:
        found = fold_characters(dfa)
    edges = dfa.edges if found is None else found.edges
    spelled, todo = set(), [(dfa.start, "")]
    while todo:
        state, text = todo.pop()
        if dfa.states[state].accepting:
            spelled.add(text)
        for edge in edges:
            if edge.source == state:
                texts = () if found is None else found.texts.get((edge.source, edge.target), ())
                letters = [chr(byte) for first, last in edge.ranges for byte in range(first, last + 1)]
                todo += [(edge.target, text + more) for more in (*texts, *letters)]
    assert spelled == set(words)


@pytest.mark.parametrize("pattern", ['"name": ?[a-z]+,', "(?:true|false|null)"])
def test_no_state_that_is_drawn_is_folded_away(pattern):
    dfa, found = folded(pattern)
    ends = {state for edge in found.edges for state in (edge.source, edge.target)}
    assert not ends & found.inner
    assert ends | found.inner == set(range(len(dfa.states)))
