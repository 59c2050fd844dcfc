"""Forced runs of an automaton, and the automaton without them."""

from __future__ import annotations

from itertools import product

import pytest

from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.compile import compile_grammar
from engine.decoding.forced.merging import ForcedRun, forced_runs, forced_tokens, merge_forced, token_runs
from engine.vocabulary import Vocabulary

PEOPLE = r'\{"name":"(John|Paul)","age":(20|30)\}'
PATTERNS = (
    "abc",
    "a*",
    "ab(c|a)b*cab",
    "(abc)*",
    "(a|b)cab(a|b)c",
    "a(bc)+",
    "abca?",
    "(ab|c)abc(ab|c)",
    "cab|cac|cacab",
)


def dfa_of(pattern: str) -> ByteDfa:
    return compile_grammar("regex", pattern).materialise()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_merging_keeps_the_language(pattern):
    dfa = dfa_of(pattern)
    merged = merge_forced(dfa)
    for length in range(9):
        for letters in product(b"abc", repeat=length):
            text = bytes(letters)
            assert merged.accepts(text) == dfa.accepts(text), text


@pytest.mark.parametrize("pattern", [*PATTERNS, PEOPLE, "(é|è)à!", "x[0-9]-[0-9]-"])
def test_what_is_left_is_a_choice_an_end_a_meeting_or_the_start(pattern):
    dfa = dfa_of(pattern)
    merged = merge_forced(dfa)
    inner = {state for edge in merged.edges for state in edge.through}
    assert inner | set(merged.states) == {state.id for state in dfa.states}
    assert not inner & set(merged.states)
    for state in range(len(dfa.states)):
        ways = [byte for byte in range(256) if dfa.step(state, byte) is not None]
        into = {edge.source for edge in dfa.edges if edge.target == state}
        is_inner = len(ways) == 1 and not dfa.states[state].accepting and len(into) == 1 and state != dfa.start
        assert (state in inner) == is_inner, state


@pytest.mark.parametrize("pattern", [*PATTERNS, PEOPLE, "(é|è)à!"])
def test_runs_are_what_every_continuation_begins_with(pattern):
    dfa = dfa_of(pattern)
    for run in forced_runs(dfa):
        at, read = run.state, b""
        while not dfa.states[at].accepting:
            ways = [byte for byte in range(256) if dfa.step(at, byte) is not None]
            if len(ways) != 1:
                break
            read += bytes(ways)
            at = dfa.step(at, ways[0])
        assert (run.data, run.target) == (read, at)


def test_the_example_of_people():
    dfa = dfa_of(PEOPLE)
    merged = merge_forced(dfa)
    assert [edge.label for edge in merged.edges] == ['{"name":"', "John", "Paul", '","age":', "[23]0}"]
    assert (merged.states_before, len(merged.states)) == (28, 5)
    assert [run.data for run in forced_runs(dfa)] == [b'{"name":"', b'ohn","age":', b'aul","age":', b"0}"]


def test_a_character_that_is_chosen_by_its_last_byte_is_not_in_the_run_whole():
    first, second = forced_runs(dfa_of("a(é|è)à!"))
    assert (first.data, first.text) == (b"a\xc3", "a")
    assert (second.data, second.text) == ("à!".encode(), "à!")


def test_an_empty_language_and_a_part_of_an_automaton():
    assert merge_forced(ByteDfa(None, (), ())).states == ()
    assert forced_runs(ByteDfa(None, (), ())) == ()
    states = tuple(DfaState(i, accepting=False) for i in range(3))
    edges = tuple(DfaEdge(i, i + 1, ((97, 97),)) for i in range(2))
    part = ByteDfa(0, states, edges, frozenset({1}))
    assert forced_runs(part) == (ForcedRun(0, 1, b"a"),)
    assert merge_forced(part).states == (0, 1, 2)


def test_a_circle_of_forced_states_ends():
    states = tuple(DfaState(i, accepting=False) for i in range(2))
    circle = ByteDfa(0, states, (DfaEdge(0, 1, ((97, 97),)), DfaEdge(1, 0, ((98, 98),))))
    assert forced_runs(circle) == (ForcedRun(0, 0, b"ab"),)
    assert [edge.label for edge in merge_forced(circle).edges] == ["ab"]
    tokens = Vocabulary([b"a", b"b"], [])
    assert token_runs(forced_tokens(circle, tokens), 0) == ((0, (0, 1)),)


@pytest.mark.parametrize("pattern", [*PATTERNS, "abab(ab|c)"])
def test_forced_tokens_are_those_that_brute_force_finds(pattern):
    dfa = dfa_of(pattern)
    vocabulary = Vocabulary([b"a", b"b", b"c", b"ab", b"ca", b"cab", b"bca", b"c", None, b"abc"], [8])
    found = forced_tokens(dfa, vocabulary)
    for state in dfa.states:
        reached = {i: dfa.run(token, state.id) for i, token in enumerate(vocabulary.tokens) if token}
        allowed = [(i, after) for i, after in reached.items() if after is not None]
        only = allowed[0] if len(allowed) == 1 and not state.accepting else None
        assert found.get(state.id) == only
