from dataclasses import replace

import pytest

from engine.automata.rtn.rule_automata import RuleAutomata
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import compile_grammar
from engine.diagnosis.test_strings.coverage import GrammarUses, coverage, single_rule, uses_of
from engine.diagnosis.test_strings.values import EdgeKey
from engine.source import Span

ARITHMETIC = """root ::= expr
expr ::= term ("+" term)*
term ::= num | "(" expr ")"
num ::= [0-9] [0-9]*
"""


@pytest.fixture(scope="module")
def automata():
    return compile_grammar("gbnf", ARITHMETIC).rule_automata()


def all_edges(automata):
    return {row.key for row in coverage(automata, []).edges}


def without(automata, key):
    """The grammar with one edge taken out."""
    rule = automata.rules[key.rule]
    if key.called:
        kept = tuple(c for c in rule.calls if (c.source, c.target, c.rule) != (key.source, key.target, key.called))
        changed = replace(rule, calls=kept)
    else:
        kept = tuple(e for e in rule.dfa.edges if (e.source, e.target) != (key.source, key.target))
        changed = replace(rule, dfa=replace(rule.dfa, edges=kept))
    rules = list(automata.rules)
    rules[key.rule] = changed
    return RuleAutomata(tuple(rules))


@pytest.mark.parametrize("text", [b"1", b"12+3", b"(1)", b"((1+2)+34)", b"1+(2)+3"])
def test_an_unambiguous_text_uses_the_edges_that_it_cannot_do_without(automata, text):
    needed = {key for key in all_edges(automata) if not RuleTracker(without(automata, key)).positions(text).accepting}
    assert uses_of(automata, text).edges == needed


def test_an_ambiguous_text_uses_all_of_its_derivations():
    automata = compile_grammar("gbnf", 'root ::= a | b\na ::= "x"\nb ::= "x" "y"?').rule_automata()
    used = coverage(automata, [uses_of(automata, b"x")])
    assert [rule.name for rule in used.rules if rule.covered] == ["root", "a", "b"]
    assert [edge.rule for edge in used.edges if not edge.covered] == ["b"]


def test_a_rule_that_was_only_tried_is_not_used():
    automata = compile_grammar("gbnf", 'root ::= a | b\na ::= "xa"\nb ::= "xb"').rule_automata()
    used = coverage(automata, [uses_of(automata, b"xa")])
    assert [rule.name for rule in used.rules if rule.covered] == ["root", "a"]
    begun = coverage(automata, [uses_of(automata, b"x", is_whole=False)])
    assert [rule.name for rule in begun.rules if rule.covered] == ["root", "a", "b"]


def test_what_does_not_match_uses_nothing(automata):
    assert uses_of(automata, b"1+") == GrammarUses(frozenset(), frozenset())
    assert uses_of(automata, b"x", is_whole=False) == GrammarUses(frozenset(), frozenset())
    assert uses_of(automata, b"", is_whole=False) == GrammarUses(frozenset(), frozenset())
    assert uses_of(automata, b"1+", is_whole=False).rules == {0, 1, 2, 3}


def test_rules_that_may_be_empty_and_left_recursion():
    grammar = 'root ::= list\nlist ::= list "," item | item\nitem ::= [a-z]?\n'
    automata = compile_grammar("gbnf", grammar).rule_automata()
    used = coverage(automata, [uses_of(automata, b",")])
    assert {rule.name for rule in used.rules if rule.covered} == {"root", "list", "item"}
    assert [(edge.rule, edge.key.called) for edge in used.edges if not edge.covered] == [("item", "")]


def test_a_rule_that_read_something_is_not_taken_for_empty():
    automata = compile_grammar("gbnf", 'root ::= a "x"\na ::= b | "y"\nb ::= [z]?').rule_automata()
    used = coverage(automata, [uses_of(automata, b"yx")])
    assert [rule.name for rule in used.rules if rule.covered] == ["root", "a"]
    used = coverage(automata, [uses_of(automata, b"x")])
    assert [rule.name for rule in used.rules if rule.covered] == ["root", "a", "b"]


def test_texts_add_up_and_the_rows_have_places(automata):
    used = coverage(automata, [uses_of(automata, b"1"), uses_of(automata, b"(2)")])
    assert used.followed == 2
    assert used.covered_rules == 4
    plus = next(edge for edge in used.edges if not edge.covered and edge.ranges == ((0x2B, 0x2B),))
    assert (plus.rule, ARITHMETIC[plus.span.start : plus.span.end]) == ("expr", "+")


def test_one_expression_is_one_rule_without_a_name():
    grammar = compile_grammar("regex", "ab|cd")
    automata = single_rule(grammar.materialise(), Span(0, 5))
    used = coverage(automata, [uses_of(automata, b"ab")])
    assert used.rules == ()
    assert (used.covered_edges, len(used.edges)) == (2, 4)
    assert all(isinstance(edge.key, EdgeKey) for edge in used.edges)
    assert single_rule(compile_grammar("regex", "a$b").materialise(), Span(0, 3)).rules == ()


def test_a_text_with_too_many_ways_is_left_out(monkeypatch, automata):
    monkeypatch.setattr("engine.diagnosis.test_strings.coverage.MOST_ITEMS", 20)
    used = coverage(automata, [uses_of(automata, b"1+1+1+1")])
    assert (used.followed, used.left_out, used.covered_edges) == (0, 1, 0)
