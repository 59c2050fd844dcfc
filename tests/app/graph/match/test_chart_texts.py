"""Shortest texts and paths through charts, held against a search by hand."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph.match.chart_texts import ChartTexts, edges_between, simple_paths
from app.graph.match.folding import Chart, fold_characters
from app.graph.match.rules import rule_charts
from engine.automata.dfa.dfa import ByteDfa
from engine.compile import CompiledGrammar, compile_grammar

DFA = compile_grammar("regex", "(?:ab|[a-c]+é|c{3})*x?").materialise()
RECURSIVE = """root ::= "<" list ">"
list ::= item ("," item)*
item ::= [0-9]{2,3} | "(" list ")" | long
long ::= "zzzzz" end
end ::= "." | end "!"
"""


def texts_of(grammar: CompiledGrammar) -> tuple[tuple[str, ...], ChartTexts, tuple[Chart, ...]]:
    charts = rule_charts(grammar.rule_automata())
    return charts.names, ChartTexts(charts.rules), charts.rules


def test_a_shortest_text_leads_to_each_state_and_none_is_shorter() -> None:
    texts = ChartTexts((Chart(DFA),))
    distance = {0: 0}
    ring = [0]
    while ring:
        following = {edge.target for edge in DFA.edges if edge.source in ring} - distance.keys()
        distance |= dict.fromkeys(following, distance[ring[0]] + 1)
        ring = list(following)
    for state in DFA.states:
        text = texts.text_to(0, state.id)
        assert text is not None
        assert DFA.run(text) == state.id
        assert len(text) == distance[state.id]
        through = texts.text_through(0, state.id)
        assert through is not None
        assert through.startswith(text)
        end = DFA.run(through)
        assert end is not None
        assert DFA.states[end].accepting
    assert ChartTexts((Chart(ByteDfa(None, (), ())),)).text_to(0, 0) is None


def test_texts_of_rules_pass_the_calls_that_lead_to_them_and_are_texts_of_the_grammar() -> None:
    grammar = compile_grammar("gbnf", RECURSIVE)
    names, texts, charts = texts_of(grammar)
    assert texts.text_to(names.index("root"), 0) == b""
    assert texts.text_to(names.index("item"), 0) == b"<"
    assert texts.text_to(names.index("end"), 0) == b"<zzzzz"
    for rule, chart in enumerate(charts):
        for state in chart.dfa.states:
            text, through = texts.text_to(rule, state.id), texts.text_through(rule, state.id)
            assert text is not None, (names[rule], state.id)
            assert through is not None, (names[rule], state.id)
            assert through.startswith(text)
            assert grammar.fullmatch(through), through


def test_no_text_passes_a_token_element() -> None:
    names, texts, charts = texts_of(compile_grammar("gbnf", 'root ::= "a" <[5]> rest\nrest ::= "b"'))
    assert names[0] == "root"
    known = [texts.text_to(0, state.id) for state in charts[0].dfa.states]
    assert set(known) == {b"", b"a", None}
    assert texts.text_to(names.index("rest"), 0) is None
    assert texts.text_through(0, 0) is None


def test_the_text_of_an_edge_passes_only_states_that_are_folded_away() -> None:
    fold = fold_characters(DFA)
    assert fold is not None
    texts = ChartTexts((Chart(DFA, fold),))
    for edge in fold.edges:
        text = texts.edge_text(0, (edge.source, edge.target), fold.inner)
        assert text is not None
        assert DFA.run(text, edge.source) == edge.target
        assert len(text.decode()) == 1


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))), st.integers(0, 5), st.integers(0, 5))
def test_paths_are_all_those_that_pass_no_state_twice(edges: set[tuple[int, int]], source: int, target: int) -> None:
    inner = [state for state in range(6) if state not in (source, target)]
    expected = {
        path
        for count in range(6)
        for middle in permutations(inner, count)
        for path in [(source, *middle, target)]
        if all(pair in edges for pair in pairwise(path))
    }
    found = [path for path in simple_paths(edges, source, target) if path is not None]
    assert len(found) == len(set(found))
    assert set(found) == expected
    between = edges_between(edges, source, target)
    assert {pair for path in expected for pair in pairwise(path)} <= between <= edges


@pytest.mark.parametrize("length", [12, 60])
def test_every_step_of_the_search_leads_to_a_path(length: int) -> None:
    """A ladder with a dead pocket: a search that enters it in vain would take ages."""
    pocket = {(a, b) for a in range(100, 130) for b in range(100, 130) if a != b}
    rungs = {(n, n + 1) for n in range(length)} | {(n, 100) for n in range(length)} | {(110, 0)}
    found = [path for path in simple_paths(rungs | pocket, 0, length) if path is not None]
    assert found == [tuple(range(length + 1))]
