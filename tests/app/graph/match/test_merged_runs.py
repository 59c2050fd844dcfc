"""Forced runs merged in a drawing, against merging over bytes and against reading byte by byte."""

from __future__ import annotations

import pytest

from app.graph.match.chains import fold_forced_runs
from app.graph.match.folding import fold_characters
from engine.compile import compile_grammar
from engine.decoding.forced.merging import merge_forced

PEOPLE = r'\{"name":"(John|Paul)","age":(20|30)\}'


def drawn(pattern):
    dfa = compile_grammar("regex", pattern).materialise(2000)
    return dfa, fold_forced_runs(dfa, fold_characters(dfa))


def outer(dfa, found):
    return {state.id for state in dfa.states} - found.inner


@pytest.mark.parametrize("pattern", [PEOPLE, "abc(abc(a|b)c)c", "(ab)*c", "a[0-9]bc?d", "x(yz|yw)+", "[23]0}"])
def test_the_states_that_are_left_are_those_of_merging_over_bytes(pattern):
    dfa, found = drawn(pattern)
    merged = merge_forced(dfa)
    reached = {dfa.start, *(edge.target for edge in dfa.edges)}
    assert outer(dfa, found) & reached == set(merged.states)
    assert {(edge.source, edge.target) for edge in found.edges} == {(edge.source, edge.target) for edge in merged.edges}
    said = sorted(text for texts in found.texts.values() for text in texts)
    assert said == sorted(edge.label for edge in merged.edges if edge.through)


def test_the_example():
    dfa, found = drawn(PEOPLE)
    said = sorted(text for texts in found.texts.values() for text in texts)
    assert said == sorted(['{"name":"', "John", "Paul", '","age":', "[23]0}"])
    assert len(outer(dfa, found)) == 5


def test_a_state_that_was_merged_away_knows_its_edge():
    dfa, found = drawn(PEOPLE)
    assert found.within.keys() == found.inner
    edges = {(edge.source, edge.target) for edge in found.edges}
    state, passed = dfa.start, []
    for byte in b'{"name":"John","age":30}':
        state = dfa.step(state, byte)
        passed.append(found.within[state] if state in found.inner else state)
    assert all(place in edges if isinstance(place, tuple) else place in outer(dfa, found) for place in passed)


def test_characters_beyond_ascii_are_whole():
    _dfa, found = drawn("[à-ü]日本(a|b)")
    (text,) = [text for texts in found.texts.values() for text in texts]
    assert text == "[à-ü]日本"
    assert found.inner - found.within.keys()  # the bytes within a character


def test_where_nothing_is_forced_nothing_changes():
    for pattern in ("[a-z]*", "(a|b)[0-9]"):
        assert drawn(pattern)[1] is None
