"""Names of rules, and which of them are worth a line."""

from __future__ import annotations

from engine.export.rules.expressions import literal, sequence
from engine.export.rules.rule_builder import RuleBuilder, kebab
from engine.grammar import RuleReference
from engine.grammar.analysis import references
from engine.grammar.print_gbnf import print_gbnf
from engine.source import Limits, Span


def test_names_are_kebab_case():
    assert [kebab(text) for text in ("homeAddress", "a_b c", "X-1", "ß", "root", "a" * 60)] == [
        "home-address",
        "a-b-c",
        "x-1",
        "",
        "root-value",
        "a" * 40,
    ]


def test_what_is_used_once_is_written_there_and_equal_rules_are_one():
    builder = RuleBuilder(Limits())
    once = builder.define(builder.name("once"), literal("1"), Span(0, 0), tentative=True)
    twice = builder.define(builder.name("twice"), literal("2"), Span(0, 0), tentative=True)
    same = [builder.define(builder.name("same"), sequence(twice, literal("3")), Span(0, 0)) for _ in range(2)]
    builder.define(builder.name("root"), sequence(once, *same, twice), Span(0, 0))
    assert print_gbnf(builder.grammar()) == 'root ::= "1" same same twice\nsame ::= twice "3"\ntwice ::= "2"\n'


def test_places_go_where_the_text_of_a_rule_goes():
    builder = RuleBuilder(Limits())
    within = builder.define(builder.name("within"), literal("0"), Span(1, 2), tentative=True)
    once = builder.define(builder.name("once"), sequence(within, literal("1")), Span(3, 4), tentative=True)
    same = [builder.define(builder.name("same"), sequence(literal("3")), Span(n, n + 1)) for n in (5, 7)]
    alias = builder.define(builder.name("alias"), same[0], Span(9, 10))
    builder.note("same", [Span(11, 12), Span(0, 0)])
    builder.define(builder.name("root"), sequence(once, *same, alias), Span(0, 20))
    builder.grammar()
    assert builder.places == {
        "root": (Span(0, 20), Span(3, 4), Span(1, 2)),
        "same": (Span(5, 6), Span(11, 12), Span(9, 10), Span(7, 8)),
    }


def test_the_references_of_a_rule_are_looked_up_once_for_each_form_of_it(monkeypatch):
    looked_up = []

    def counted(node):
        looked_up.append(node)
        return references(node)

    monkeypatch.setattr("engine.export.rules.rule_builder.references", counted)
    builder = RuleBuilder(Limits())
    names = [builder.name("root"), *(builder.name("rule") for _ in range(20))]
    for number, name in enumerate(names):
        used = [RuleReference(other) for other in names[number + 1 : number + 3]]
        builder.define(name, sequence(literal(f"{number}"), *used), Span(0, 0))
    assert len(builder.grammar().rules) == len(names)
    assert len(looked_up) == 2 * len(names)  # as it was defined, and as it is written
