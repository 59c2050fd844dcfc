"""Rules written out where they are used."""

from __future__ import annotations

import pytest
from error_keys import raises_key
from grammar_language import grammars, language
from hypothesis import assume, given

from engine.export.rules.expressions import literal, optional, sequence
from engine.export.rules.flatten import RecursiveError, flatten, is_recursive
from engine.export.text.print_regex import print_regex
from engine.grammar import Grammar, Node, Rule, RuleReference
from engine.grammar.nodes import parts
from engine.source import LimitExceededError

TEXTS = ["", "a", "b", "ab", "ba", "aab", "abab", "bbb", "éa", "aaaa"]


def grammar(**rules: Node) -> Grammar:
    return Grammar(tuple(Rule(name, node) for name, node in rules.items()), "root")


@given(grammars())
def test_without_rules_the_language_stays(made):
    if is_recursive(made):
        with pytest.raises(RecursiveError):
            flatten(made)
        assert whole_language(flatten(made, 2)) <= language(made, TEXTS)
    else:
        assert whole_language(flatten(made)) == language(made, TEXTS)


def whole_language(node):
    """The texts of one expression; the oracle tries all ways, and an expression without rules can have very many."""
    assume(sum(1 for _ in parts(node)) <= 60)
    return language(Grammar((Rule("root", node),), "root"), TEXTS)


def test_a_depth_counts_how_often_a_rule_stands_within_itself():
    nested = grammar(root=sequence(literal("("), optional(RuleReference("root")), literal(")")))
    assert [print_regex(flatten(nested, depth)) for depth in (1, 2)] == [r"\(\)", r"\((?:\(\))?\)"]


def test_an_expression_that_grows_too_long_is_refused():
    rules = {f"r{i}": sequence(RuleReference(f"r{i + 1}"), literal("a"), RuleReference(f"r{i + 1}")) for i in range(30)}
    doubling = grammar(root=RuleReference("r0"), **rules, r30=literal("b"))
    with raises_key(LimitExceededError, "errors.limit.expression_parts"):
        flatten(doubling)
