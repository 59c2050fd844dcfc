"""Folding bytes into characters, against the byte automaton and Python's encoder."""

from __future__ import annotations

import pytest

from app.catalogue import ui_text
from app.graph.match.folding import FoldedAutomaton, characters_label, fold_characters
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.compile import compile_grammar

SAMPLES = [
    *range(0x180),
    0x7FF,
    0x800,
    0xFFF,
    0x1000,
    0x20AC,
    0x65E5,
    0xD7FF,
    0xE000,
    0xFFFD,
    0xFFFF,
    0x10000,
    0x1F600,
    0x10FFFF,
]


def dfa_of(pattern: str) -> ByteDfa:
    return compile_grammar("regex", pattern).materialise()


def takes(folded: FoldedAutomaton, state: int, point: int) -> int | None:
    for edge in folded.edges:
        ranges = (*edge.ranges, *folded.characters.get((edge.source, edge.target), ()))
        if edge.source == state and any(first <= point <= last for first, last in ranges):
            return edge.target
    return None


@pytest.mark.parametrize(
    "pattern",
    [
        ".+",
        r'"[^"\\]*"',
        r"\p{L}+x?",
        "[à-ü]{2}",
        "[^é]+",
        "é|日本|😀?",
        r"[^\n]😀|é",
        r"(?=.*[0-9]).{2,5}",
        r"(?u)\w+\b.?",
    ],
)
def test_a_fold_steps_as_the_bytes_do(pattern: str) -> None:
    dfa = dfa_of(pattern)
    folded = fold_characters(dfa)
    assert folded is not None
    for state in set(range(len(dfa.states))) - folded.inner:
        for point in SAMPLES:
            assert takes(folded, state, point) == dfa.run(chr(point).encode(), state)


def test_a_fold_keeps_start_and_accepting_states() -> None:
    dfa = dfa_of("é.*")
    folded = fold_characters(dfa)
    assert folded is not None
    assert dfa.start not in folded.inner
    assert not any(dfa.states[state].accepting for state in folded.inner)
    assert len(dfa.states) - len(folded.inner) == 2


def test_an_edge_keeps_the_places_that_read_it() -> None:
    folded = fold_characters(dfa_of("aé"))
    assert folded is not None
    assert [[(span.start, span.end) for span in edge.spans] for edge in folded.edges] == [[(0, 1)], [(1, 2)]]


def test_ascii_alone_has_nothing_to_fold() -> None:
    assert fold_characters(dfa_of("[a-z]+")) is None
    assert fold_characters(ByteDfa(None, (), ())) is None


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1, 0xC3, 0xC3), (1, 2, 0x80, 0xBF), (0, 2, 0xFF, 0xFF)],  # a byte that UTF-8 does not have
        [(0, 1, 0xE2, 0xE2), (1, 2, 0x80, 0xBF)],  # too short
        [(0, 1, 0xC3, 0xC3), (1, 1, 0x80, 0x8F), (1, 2, 0x90, 0xBF)],  # of any length
        [(0, 1, 0xC3, 0xE2), (1, 2, 0x80, 0xBF)],  # of two lengths
    ],
)
def test_bytes_that_are_no_utf8_are_left_alone(edges: list[tuple[int, int, int, int]]) -> None:
    states = tuple(DfaState(state, state == 2) for state in range(3))
    dfa = ByteDfa(0, states, tuple(DfaEdge(a, b, ((first, last),)) for a, b, first, last in edges))
    assert fold_characters(dfa) is None


def test_a_state_whose_edges_are_not_all_known_is_not_folded() -> None:
    states = tuple(DfaState(state, state == 2) for state in range(3))
    edges = (DfaEdge(0, 1, ((0xC3, 0xC3),)), DfaEdge(1, 2, ((0xA9, 0xA9),)))
    assert fold_characters(ByteDfa(0, states, edges, frozenset({1}))) is None


@pytest.mark.parametrize(
    ("pattern", "label"),
    [
        (".", "[^\\n]"),
        ("(?s).", ui_text("graph.label.fragment.any")),
        ("[^é]", "[^é]"),
        ('[^"a]', '[^" a]'),
        ("[aé]", "[a é]"),
        ("[à-ü]", "[à-ü]"),
        (r"[0-9\u0080-\U0010FFFF]", "[0-9 non-ASCII]"),
        ("[\u0085a]", "[a U+0085]"),
    ],
)
def test_labels_are_for_people(pattern: str, label: str) -> None:
    folded = fold_characters(dfa_of(pattern))
    assert folded is not None
    assert folded.label(folded.edges[0], 40) == label


def test_a_long_label_is_cut() -> None:
    points = tuple((point, point) for point in range(0x100, 0x140, 2))
    assert characters_label(((65, 90),), points, 12) == "A-Z Ā Ă Ą Ć…"
