"""The nondeterministic automata of a program have the states that its threads are in, and its language."""

from __future__ import annotations

import pytest

from engine import compile_grammar
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.source import LimitExceededError

CASES = (
    ("regex", "(a|b)*abb", b"abab"),
    ("regex", "(é|日){2,4}x?", "é日é".encode()),
    ("regex", "((a?b){1,3}c?){2}", b"abbcab"),
    ("regex", "(?:a*)*|b", b"aa"),
    ("gbnf", 'root ::= "[" (root ("," root)*)? "]" | d\nd ::= [0-9]{1,2}', b"[1,[23,"),
    ("gbnf", 'root ::= root "+" t | t\nt ::= "x" | "(" root ")"', b"(x+x)+"),
)


@pytest.mark.parametrize(("notation", "text", "output"), CASES, ids=[text for _, text, _ in CASES])
def test_the_states_after_each_byte_are_those_of_the_threads_with_their_epsilon_closure(notation, text, output) -> None:
    grammar = compile_grammar(notation, text)
    automaton = grammar.automaton
    assert isinstance(automaton, LazyAutomaton)
    nfas = grammar.rule_nfas()
    tracker = RuleTracker(nfas.automata)
    reading_states = {
        (number, edge.source) for number, rule in enumerate(nfas.automata.rules) for edge in rule.dfa.edges
    }
    for end in range(len(output) + 1):
        configuration = automaton.run(automaton.start, output[:end])
        found = tracker.positions(output[:end])
        threads = {nfas.states[state] for state in automaton.rule_states(configuration) if state in nfas.states}
        assert found.reading & reading_states == threads & reading_states
        assert found.accepting == automaton.accepts(configuration)


def test_the_classical_example_has_the_textbook_states() -> None:
    (rule,) = compile_grammar("regex", "(a|b)*abb").rule_nfas().automata.rules
    assert len(rule.dfa.states) == 10
    assert len(rule.epsilons) == 7
    assert all(len(edge.ranges) == 1 for edge in rule.dfa.edges)


def test_a_condition_is_on_its_epsilon_edge() -> None:
    nfas = compile_grammar("regex", r"(?=ab)\w+").rule_nfas()
    assert nfas.has_conditions
    (condition,) = {edge.condition for edge in nfas.automata.rules[0].epsilons if edge.condition is not None}
    assert (condition.start, condition.end) == (0, 6)


def test_an_nfa_beyond_the_limit_is_refused() -> None:
    with pytest.raises(LimitExceededError):
        compile_grammar("regex", "a{1,300}").rule_nfas(100)
