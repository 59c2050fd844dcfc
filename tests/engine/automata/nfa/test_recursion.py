"""Which grammars nest without bound."""

from __future__ import annotations

import pytest

from engine.automata.nfa.program import assemble
from engine.automata.nfa.recursion import nests_without_bound
from engine.grammar import Chars, CharSet, Choice, Grammar, Node, Repeat, Rule, RuleReference, Sequence
from engine.grammar.simplify import simplify_grammar
from engine.source import Limits


def char(text: str) -> Node:
    return Chars(CharSet.chars(text))


E, X = RuleReference("e"), RuleReference("x")


@pytest.mark.parametrize(
    ("rules", "nests"),
    [
        ({"e": char("a")}, False),
        ({"e": Sequence((X, X)), "x": char("a")}, False),
        ({"e": Choice((Sequence((char("a"), E)), char("b")))}, False),
        ({"e": Choice((Sequence((E, char("+"), char("n"))), char("n")))}, False),
        ({"e": Choice((Sequence((E, char("+"), E)), char("n")))}, False),
        ({"e": Choice((Sequence((char("("), E, char(")"))), char("n")))}, True),
        ({"e": Sequence((char("["), Repeat(X, 0, None), char("]"))), "x": Choice((char("a"), E))}, True),
        ({"e": Choice((Sequence((E, E)), char("a")))}, False),
    ],
)
def test_nesting(rules: dict[str, Node], nests: bool) -> None:
    grammar = Grammar(tuple(Rule(name, node) for name, node in rules.items()), "e")
    program = assemble(simplify_grammar(grammar), Limits())
    assert program is not None
    assert nests_without_bound(program) is nests
