"""The charts of a grammar's rules."""

from __future__ import annotations

import pickle

import pytest

from app.graph.match.rules import COMBINED_AT_FIRST, RuleCharts, rule_charts
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.compile import compile_grammar

ARITHMETIC = (
    'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "é" | number | "(" expr ")"\nnumber ::= [0-9]+'
)


def automata_of(text: str) -> RuleAutomata:
    return compile_grammar("gbnf", text).rule_automata()


def charts(text: str) -> RuleCharts:
    return rule_charts(automata_of(text))


def test_each_rule_is_a_chart_whose_calls_are_edges() -> None:
    found = charts(ARITHMETIC)
    assert found.names == ("root", "expr", "term", "number")
    term = found.rules[2]
    (called,) = [key for key, rules in term.calls.items() if rules == (3,)]
    assert term.words[called] == ("‹number›",)
    (edge,) = [edge for edge in term.dfa.edges if (edge.source, edge.target) == called]
    assert edge.ranges == ((97, 97),)  # one edge for `a` and for the call


def test_characters_are_folded_in_a_rule_and_calls_stay() -> None:
    term = charts(ARITHMETIC).rules[2]
    assert term.fold is not None
    assert len(term.fold.inner) == 1
    assert set(term.calls) <= {(edge.source, edge.target) for edge in term.fold.edges}


def test_small_rules_stand_side_by_side_as_one_graph() -> None:
    found, automata = charts(ARITHMETIC), automata_of(ARITHMETIC)
    together = found.combined
    assert together is not None
    assert [title for title, _ in together.groups] == ["root", "expr", "term", "number"]
    assert len(together.dfa.states) == automata.size
    group_of = {state: title for title, states in together.groups for state in states}
    assert all(group_of[edge.source] == group_of[edge.target] for edge in together.dfa.edges)
    for (_, states), first, rule in zip(together.groups, found.first_states, automata.rules, strict=True):
        assert states[0] == first
        for state in rule.dfa.states:
            for byte in range(256):
                target = rule.dfa.step(state.id, byte)
                assert together.dfa.step(first + state.id, byte) == (None if target is None else first + target)
    assert together.names[found.first_states[1]] == "0"
    assert found.size == automata.size - 1  # the state within `é`


def test_many_states_are_drawn_as_an_overview() -> None:
    found = charts(f'root ::= "(" root ")" | x\nx ::= "a"{{{COMBINED_AT_FIRST}}} | root')
    assert not found.opens_combined(merges=False)
    assert found.combined is not None  # on demand
    assert found.overview.names == ("root", "x")
    assert {(edge.source, edge.target) for edge in found.overview.dfa.edges} == {(0, 0), (0, 1), (1, 0)}
    assert found.overview.calls == {(0, 0): (0,), (0, 1): (1,), (1, 0): (0,)}


def test_tokens_are_written_as_in_the_grammar() -> None:
    found = charts('root ::= "(" root ")" | <think> | !<[7]>')
    assert set(found.rules[0].words.values()) == {("‹root›",), ("<think>", "!<[7]>")}


@pytest.mark.parametrize("text", [ARITHMETIC, 'root ::= root "a" | ""'])
def test_charts_cross_to_the_window(text: str) -> None:
    found = charts(text)
    assert pickle.loads(pickle.dumps(found)) == found
