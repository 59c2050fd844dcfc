"""Excerpts of automata: what is drawn, and what is told of the rest."""

from __future__ import annotations

from app.graph.match.neighbourhood import Surroundings
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState


def dfa_of(pairs: list[tuple[int, int]], boundary: frozenset[int] = frozenset()) -> ByteDfa:
    count = 1 + max(max(pair) for pair in pairs)
    bytes_taken = dict.fromkeys(range(count), 0)
    edges = []
    for source, target in sorted(pairs):
        edges.append(DfaEdge(source, target, ((bytes_taken[source], bytes_taken[source]),)))
        bytes_taken[source] += 1
    states = tuple(DfaState(state, accepting=state == count - 1) for state in range(count))
    return ByteDfa(0, states, tuple(edges), boundary)


CHAIN = dfa_of([(state, state + 1) for state in range(9)])
FAN = dfa_of([(0, target) for target in range(1, 101)] + [(state, 101) for state in range(1, 101)])


def test_the_whole_hides_nothing() -> None:
    excerpt = Surroundings(CHAIN).whole()
    assert excerpt.states == tuple(range(10))
    assert len(excerpt.edges) == 9
    assert excerpt.hidden == {}


def test_radius_counts_edges_both_ways() -> None:
    excerpt = Surroundings(CHAIN).around([5], radius=2)
    assert excerpt.states == (3, 4, 5, 6, 7)
    assert excerpt.hidden == {7: 1}


def test_without_centres_the_start_is_shown() -> None:
    assert Surroundings(CHAIN).around([]).states == (0, 1, 2)


def test_no_more_than_the_limit_and_the_rest_is_counted() -> None:
    excerpt = Surroundings(FAN).around([0], limit=60)
    assert len(excerpt.states) == 60
    assert excerpt.hidden[0] == 100 - 59
    assert excerpt.hidden[1] == 1


def test_what_comes_next_is_preferred_to_what_came_before() -> None:
    dfa = dfa_of([(0, 3), (1, 3), (2, 3), (3, 4), (4, 5)])
    assert Surroundings(dfa).around([3], radius=1, limit=2).states == (3, 4)


def test_many_centres_are_cut_to_the_limit() -> None:
    assert len(Surroundings(FAN).around(range(100), limit=10).states) == 10


def test_a_state_whose_edges_are_not_all_known_says_so() -> None:
    assert Surroundings(dfa_of([(0, 1)], frozenset({1}))).whole().hidden == {1: None}


def test_an_empty_language_has_an_empty_excerpt() -> None:
    surroundings = Surroundings(ByteDfa(None, (), ()))
    assert surroundings.whole().states == ()
    assert surroundings.around([]).states == ()
