"""Analyses of rules against definitions that are obvious and slow."""

from __future__ import annotations

from itertools import product

import networkx as nx
import pytest
from grammar_language import grammars, matches, nullable, productive
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from language import ALPHABET

from engine.grammar import (
    Chars,
    CharSet,
    Choice,
    Empty,
    Grammar,
    Never,
    Node,
    Repeat,
    Rule,
    RuleReference,
    Sequence,
    TokenSet,
    rule_facts,
)
from engine.grammar.analysis import (
    blockers,
    components,
    left_recursion,
    nullable_rules,
    productive_rules,
    reachable_rules,
    references,
)
from engine.grammar.rule_facts import JoinedFacts, RuleFacts
from engine.source import Span

A = Chars(CharSet.chars("a"))
X, Y = RuleReference("x"), RuleReference("y")
TEXTS = ["".join(chars) for length in range(3) for chars in product(ALPHABET, repeat=length)]


def grammar(**rules: Node) -> Grammar:
    return Grammar(tuple(Rule(name, node) for name, node in rules.items()), "root")


@settings(max_examples=75, suppress_health_check=[HealthCheck.too_slow])
@given(grammars())
def test_least_fixpoints_equal_their_twins(made: Grammar) -> None:
    assert productive_rules(made) == productive(made)
    assert nullable_rules(made) == nullable(made)
    assert ("root" in nullable_rules(made)) == matches(made, "")


@settings(max_examples=75, suppress_health_check=[HealthCheck.too_slow])
@given(grammars())
def test_facts_about_single_rules_say_the_same(made: Grammar) -> None:
    facts = {rule.name: RuleFacts(rule.node) for rule in made.rules}
    assert rule_facts.productive(facts) == productive_rules(made)
    assert rule_facts.nullable(facts) == nullable_rules(made)
    assert rule_facts.reachable(facts, made.start) == reachable_rules(made)
    assert rule_facts.has_left_recursion(facts, nullable_rules(made)) == bool(left_recursion(made))
    for rule in made.rules:
        assert facts[rule.name].references == tuple(references(rule.node))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(grammars(), grammars())
def test_what_follows_from_facts_is_found_anew_where_a_rule_says_something_else(one: Grammar, other: Grammar) -> None:
    joined, bodies = JoinedFacts(), {rule.name: rule.node for rule in other.rules}
    mixed = Grammar(tuple(Rule(rule.name, bodies.get(rule.name, rule.node)) for rule in one.rules), one.start)
    names = {rule.name for rule in one.rules}
    assume(all(used.name in names for rule in mixed.rules for used in references(rule.node)))
    for made in (one, mixed, one):
        joined.rules = {rule.name: RuleFacts(rule.node) for rule in made.rules}
        assert joined.consequences(made.start) == (
            productive_rules(made),
            nullable_rules(made),
            reachable_rules(made),
            bool(left_recursion(made)),
        )


def test_what_follows_is_kept_while_rules_use_the_same_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = JoinedFacts()
    joined.rules = {"root": RuleFacts(Sequence((A, X))), "x": RuleFacts(A)}
    known = joined.consequences("root")
    monkeypatch.setattr(rule_facts, "components", None)
    joined.rules = {"root": RuleFacts(Sequence((A, A, X))), "x": joined.rules["x"]}
    assert joined.consequences("root") is known


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(grammars())
def test_what_blocks_a_rule_matches_nothing_either(made: Grammar) -> None:
    found = blockers(made)
    assert set(found) == {rule.name for rule in made.rules} - productive_rules(made)
    for blocker in found.values():
        assert isinstance(blocker, RuleReference)
        assert blocker.name in found
    if "root" in found:
        assert not any(matches(made, text) for text in TEXTS)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(grammars())
def test_a_cycle_leads_from_rule_to_rule(made: Grammar) -> None:
    bodies = {rule.name: rule.node for rule in made.rules}
    for cycle in left_recursion(made):
        assert cycle.names[0] == cycle.names[-1]
        for name, reference in zip(cycle.names, cycle.references, strict=False):
            assert any(part is reference for part in references(bodies[name]))


@given(st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4)))
def test_components_are_those_of_networkx(edges: dict[int, list[int]]) -> None:
    graph = {str(n): [str(m) for m in edges.get(n, [])] for n in range(10)}
    wanted = nx.strongly_connected_components(nx.DiGraph([(n, m) for n in graph for m in graph[n]] or None))
    found = {frozenset(component) for component in components(graph)}
    assert {frozenset(component) for component in wanted} <= found
    assert sorted(name for component in found for name in component) == sorted(graph)


@pytest.mark.parametrize(
    ("rules", "cycles"),
    [
        ({"root": Choice((Sequence((RuleReference("root"), A)), A))}, [("root", "root")]),
        ({"root": Sequence((A, RuleReference("root")))}, []),
        ({"root": Sequence((Repeat(A, 0, None), RuleReference("root")))}, [("root", "root")]),
        ({"root": X, "x": Sequence((Y, A)), "y": Choice((X, A))}, [("x", "y", "x")]),
        ({"root": Sequence((TokenSet(("<t>",), (), negated=False), RuleReference("root")))}, []),
        ({"root": Sequence((X, RuleReference("root"))), "x": Empty()}, [("root", "root")]),
    ],
)
def test_left_recursion(rules: dict[str, Node], cycles: list[tuple[str, ...]]) -> None:
    assert [cycle.names for cycle in left_recursion(grammar(**rules))] == cycles


def test_hidden_left_recursion_is_told_apart() -> None:
    (open_cycle,) = left_recursion(grammar(root=Sequence((RuleReference("root"), A))))
    (hidden,) = left_recursion(grammar(root=Sequence((Repeat(A, 0, 1), RuleReference("root")))))
    assert not open_cycle.hidden
    assert hidden.hidden


def test_reachability_and_blockers_by_name() -> None:
    dead = Never(Span(3, 5))
    made = grammar(root=X, x=Sequence((A, Y)), y=Sequence((dead, X)), z=A)
    assert reachable_rules(made) == {"root", "x", "y"}
    assert blockers(made) == {"root": X, "x": Y, "y": dead}


def test_surrogates_alone_are_no_text() -> None:
    assert productive_rules(grammar(root=Chars(CharSet(((0xD800, 0xDFFF),))))) == frozenset()
    assert productive_rules(grammar(root=Chars(CharSet(((0xD7FF, 0xDFFF),))))) == {"root"}


def test_depth_costs_no_frames() -> None:
    node: Node = RuleReference("root")
    for _ in range(20_000):
        node = Choice((Sequence((node, A)), A))
    made = grammar(root=node, **{f"r{i}": Sequence((RuleReference(f"r{i + 1}"), A)) for i in range(5000)}, r5000=A)
    assert "r0" in productive_rules(made)
    assert nullable_rules(made) == frozenset()
    assert [cycle.names for cycle in left_recursion(made)] == [("root", "root")]
