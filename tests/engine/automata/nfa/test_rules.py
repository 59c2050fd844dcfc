"""Grammars whose rules call one another, against the obvious matcher, over every short text."""

from __future__ import annotations

from itertools import product

import pytest
from error_keys import raises_key
from grammar_language import grammars, language
from hypothesis import HealthCheck, given, settings
from language import ALPHABET

from engine.automata.byte_automaton import DEAD
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import assemble
from engine.compile import compile_grammar
from engine.grammar import Chars, CharSet, Choice, Grammar, Node, Repeat, Rule, RuleReference, Sequence
from engine.grammar.simplify import simplify_grammar
from engine.source import LimitExceededError, Limits

TEXTS = ["".join(chars) for length in range(5) for chars in product(ALPHABET, repeat=length)]


def automaton_of(grammar: Grammar) -> LazyAutomaton:
    return LazyAutomaton(assemble(simplify_grammar(grammar), Limits()), Limits())


def accepts(automaton: LazyAutomaton, text: str) -> bool:
    return automaton.accepts(automaton.run(automaton.start, text.encode()))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(grammars())
def test_every_short_text(grammar: Grammar) -> None:
    automaton = automaton_of(grammar)
    wanted = language(grammar, TEXTS)
    for text in TEXTS:
        assert accepts(automaton, text) == (text in wanted), text
        if text in wanted:
            assert all(automaton.run(automaton.start, text.encode()[:n]) != DEAD for n in range(len(text.encode())))


def char(text: str) -> Node:
    return Chars(CharSet.chars(text))


def sequence(*items: Node) -> Node:
    return Sequence(items)


def choice(*alternatives: Node) -> Node:
    return Choice(alternatives)


E = RuleReference("e")


@pytest.mark.parametrize(
    ("rules", "yes", "no"),
    [
        ({"e": choice(sequence(E, char("+"), E), char("n"))}, ["n", "n+n", "n+n+n+n"], ["", "+", "n+", "nn"]),
        ({"e": choice(sequence(char("("), E, char(")")), char("n"))}, ["n", "((n))"], ["(n", "n)", "()"]),
        ({"e": choice(sequence(E, E), char("a"), Repeat(char("b"), 0, 1))}, ["", "a", "abba"], ["c"]),
        (
            {"e": choice(sequence(RuleReference("t"), char("x")), char("a")), "t": choice(sequence(E, char("y")), E)},
            ["a", "ax", "ayx", "axyx"],
            ["ay", "x"],
        ),
        (
            {"e": sequence(RuleReference("y"), char("a")), "y": choice(E, char("a"), sequence(char("é"), E))},
            ["aa", "aaa", "éaaa"],
            ["éaa", "éa"],
        ),
        ({"e": Repeat(sequence(Repeat(char(" "), 0, None), E), 0, 2)}, ["", " ", "   "], ["a"]),
    ],
)
def test_recursion_of_every_kind(rules: dict[str, Node], yes: list[str], no: list[str]) -> None:
    automaton = automaton_of(Grammar(tuple(Rule(name, node) for name, node in rules.items()), "e"))
    assert [text for text in yes if not accepts(automaton, text)] == []
    assert [text for text in no if accepts(automaton, text)] == []


def test_left_and_tail_recursion_need_no_more_configurations_for_longer_texts() -> None:
    left = {"e": choice(sequence(E, char("+"), char("n")), char("n"))}
    both = {"e": choice(sequence(E, char("+"), E), char("n"))}
    tail = {"e": choice(sequence(char("n"), char("+"), E), char("n"))}
    for rules in (left, both, tail):
        automaton = automaton_of(Grammar(tuple(Rule(name, node) for name, node in rules.items()), "e"))
        assert accepts(automaton, "n" + "+n" * 50)
        size = automaton.size
        assert accepts(automaton, "n" + "+n" * 5000)
        assert automaton.size == size


def test_states_are_counted_before_any_automaton_is_minimised(monkeypatch):
    """Minimising takes as long again as counting, and a grammar that is too large is refused without it."""
    rules = "\n".join(f'r{number} ::= "{"abcdefgh" * 4}{number}" r{number + 1}?' for number in range(40))
    grammar = compile_grammar("gbnf", f'root ::= r0\n{rules}\nr40 ::= "(" root ")"')
    assert sum(len(rule.dfa.states) for rule in grammar.rule_automata().rules) > 1_000

    def minimise(*_: object, **__: object) -> None:
        pytest.fail("minimised")

    monkeypatch.setattr("engine.automata.rtn.rule_automata.merge_equivalent", minimise)
    with raises_key(LimitExceededError, "errors.limit.rule_states", given=501, limit=500):
        grammar.rule_automata(500)
