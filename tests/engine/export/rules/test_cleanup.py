"""Rules without what no engine needs, under names that an engine knows."""

from __future__ import annotations

from engine.export.rules.cleanup import renamed, trimmed
from engine.grammar.print_gbnf import print_gbnf
from engine.notations.gbnf.parser import parse
from engine.source import Limits, SourceText


def rules(text: str):
    grammar, _ = parse(SourceText(text), Limits())
    return grammar


def test_what_matches_nothing_and_what_is_unused_is_taken_out():
    made = trimmed(rules('root ::= "a" dead | x\ndead ::= "x" dead\nx ::= "b"\nother ::= x'))
    assert print_gbnf(made) == 'root ::= x\nx ::= "b"\n'


def test_no_class_holds_a_surrogate():
    (root,) = trimmed(rules("root ::= [^a]")).rules
    assert all(last < 0xD800 or first > 0xDFFF for first, last in root.node.set.ranges)


def test_names_that_would_be_the_same_get_a_number():
    made = renamed(rules('a_b ::= a-b\na-b ::= root\nroot ::= a_b | "x"'), lambda name: name.replace("_", "-"))
    assert made.start == "root"
    assert [rule.name for rule in made.rules] == ["a-b", "a-b_2", "root"]
    assert [part.name for part in (made.rules[0].node, made.rules[1].node)] == ["a-b_2", "root"]
