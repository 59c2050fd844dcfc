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
    book = RuleBuilder(Limits())
    once = book.define(book.name("once"), literal("1"), Span(0, 0), tentative=True)
    twice = book.define(book.name("twice"), literal("2"), Span(0, 0), tentative=True)
    same = [book.define(book.name("same"), sequence(twice, literal("3")), Span(0, 0)) for _ in range(2)]
    book.define(book.name("root"), sequence(once, *same, twice), Span(0, 0))
    assert print_gbnf(book.grammar()) == 'root ::= "1" same same twice\nsame ::= twice "3"\ntwice ::= "2"\n'


def test_places_go_where_the_text_of_a_rule_goes():
    book = RuleBuilder(Limits())
    within = book.define(book.name("within"), literal("0"), Span(1, 2), tentative=True)
    once = book.define(book.name("once"), sequence(within, literal("1")), Span(3, 4), tentative=True)
    same = [book.define(book.name("same"), sequence(literal("3")), Span(n, n + 1)) for n in (5, 7)]
    alias = book.define(book.name("alias"), same[0], Span(9, 10))
    book.note("same", [Span(11, 12), Span(0, 0)])
    book.define(book.name("root"), sequence(once, *same, alias), Span(0, 20))
    book.grammar()
    assert book.places == {
        "root": (Span(0, 20), Span(3, 4), Span(1, 2)),
        "same": (Span(5, 6), Span(11, 12), Span(9, 10), Span(7, 8)),
    }


def test_the_references_of_a_rule_are_looked_up_once_for_each_form_of_it(monkeypatch):
    looked_up = []

    def counted(node):
        looked_up.append(node)
        return references(node)

    monkeypatch.setattr("engine.export.rules.rule_builder.references", counted)
    book = RuleBuilder(Limits())
    names = [book.name("root"), *(book.name("rule") for _ in range(20))]
    for number, name in enumerate(names):
        used = [RuleReference(other) for other in names[number + 1 : number + 3]]
        book.define(name, sequence(literal(f"{number}"), *used), Span(0, 0))
    assert len(book.grammar().rules) == len(names)
    assert len(looked_up) == 2 * len(names)  # as it was defined, and as it is written
