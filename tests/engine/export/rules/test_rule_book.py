"""Names of rules, and which of them are worth a line."""

from __future__ import annotations

from engine.export.rules.expressions import literal, sequence
from engine.export.rules.rule_book import RuleBook, kebab
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
    book = RuleBook(Limits())
    once = book.define(book.name("once"), literal("1"), Span(0, 0), tentative=True)
    twice = book.define(book.name("twice"), literal("2"), Span(0, 0), tentative=True)
    same = [book.define(book.name("same"), sequence(twice, literal("3")), Span(0, 0)) for _ in range(2)]
    book.define(book.name("root"), sequence(once, *same, twice), Span(0, 0))
    assert print_gbnf(book.grammar()) == 'root ::= "1" same same twice\nsame ::= twice "3"\ntwice ::= "2"\n'
