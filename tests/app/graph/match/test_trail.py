"""The way a text takes, held against running it anew from the start each time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.graph.match.folding import fold_characters
from app.graph.match.paths import PathTracker, group_edges, path_edges
from engine.automata.dfa.dfa import ByteDfa
from engine.compile import compile_grammar

DFA = compile_grammar("regex", "(?:ab|[a-c]+é|c{3})*x?").materialise()
FOLD = fold_characters(DFA)


def anew(dfa: ByteDfa, text: bytes) -> list[int]:
    """What a trail must say, without its memory."""
    states = [0]
    for byte in text:
        after = dfa.step(states[-1], byte)
        if after is None:
            break
        states.append(after)
    return states


@given(st.lists(st.binary(max_size=6) | st.text("abcéx", max_size=6).map(str.encode), max_size=8))
def test_a_trail_remembers_only_what_is_still_so(texts: list[bytes]) -> None:
    trail = PathTracker(DFA)
    for text in texts:
        assert list(trail.follow(text)) == anew(DFA, text)


def test_edges_are_those_that_are_drawn() -> None:
    states = anew(DFA, "abé".encode())
    assert path_edges(states) == set(pairwise(states))
    assert FOLD is not None
    drawn = {(edge.source, edge.target) for edge in FOLD.edges}
    assert path_edges(states, FOLD) <= drawn
    assert len(path_edges(states, FOLD)) < len(path_edges(states))


def test_steps_within_a_group_are_no_edges_between_groups() -> None:
    assert group_edges([0, 1, 2, 3, 2], [0, 0, 1, 2]) == {(0, 1), (1, 2), (2, 1)}
