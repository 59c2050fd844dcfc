"""Stacks and token elements as a person reads them, from real matchers."""

from __future__ import annotations

from engine.compile import compile_grammar
from engine.matching import Matcher
from engine.matching.explanation_text import explain, explain_stacks
from engine.vocabulary import Vocabulary

BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), None, None], [], {256: "<t>", 257: "<u>"})
VALUES = 'root ::= "[" value "]"\nvalue ::= bool | number\nbool ::= "true" " "\nnumber ::= [0-9]+ "."?'


def at(notation, text, taken=b""):
    matcher = Matcher(compile_grammar(notation, text), BYTES)
    assert matcher.accept_bytes(taken)
    return matcher


def stacks_of(matcher, token):
    return explain_stacks(matcher.explain(token).stacks, matcher.grammar.source, token)


def test_each_stack_is_a_sentence_with_its_rules():
    assert stacks_of(at("gbnf", VALUES, b"["), b"tr]") == (
        "In `bool` of `root`: `tr` fits, then `u` is expected, at line 3, column 13: `u`.",
        "In `number` of `root`: `0-9` is expected, at line 4, column 12: `[0-9]`.",
    )


def test_an_expression_has_places_alone():
    assert stacks_of(at("regex", "ab|a*"), b"ac") == (
        "`a` fits, then nothing may follow.",
        "`a` fits, then `b` is expected, at line 1, column 2: `b`.",
        "`a` fits, then `a` is expected, at line 1, column 4: `a`.",
        "Nothing may follow.",
    )


def test_a_schema_is_told_by_its_pointers():
    schema = '{"type": "object", "properties": {"a": {"type": "string", "maxLength": 1}}, "required": ["a"]}'
    matcher = at("json_schema", schema, b'{"a":"')
    assert stacks_of(matcher, b"xy") == (
        'By `/properties/a/maxLength`: `x` fits, then `"` is expected, at line 1, column 72: `1`.',
    )


def test_few_rules_of_a_deep_stack_are_named():
    (first, _) = explain_stacks(at("gbnf", 'root ::= "(" root ")" | "a"', b"(" * 9).stacks(), compile_source())
    assert first.startswith("In `root` of `root` of `root` of `root` of 6 others: ")


def compile_source():
    return compile_grammar("gbnf", 'root ::= "(" root ")" | "a"').source


def test_token_elements_are_told():
    matcher = at("gbnf", 'root ::= "a" (<t> | "b")', b"a")
    prose = explain(matcher.explain(b"x"), matcher.grammar.source)
    assert prose.startswith("`x` is not allowed here: it begins with `x`. Expected here: `b`, or the token `<t>`.")
    other = explain(matcher.explain(257), matcher.grammar.source, BYTES, token_id=257)
    assert other.startswith(
        "`<u>` is a special token: it has no text, and the grammar asks for another token here: `<t>`."
    )
    assert stacks_of(matcher, b"x") == (
        "In `root`: the token `<t>` is expected, at line 1, column 15: `<t>`.",
        "In `root`: `b` is expected, at line 1, column 22: `b`.",
    )


def test_properties_that_may_come_are_named():
    schema = (
        '{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},'
        ' "required": ["b"], "additionalProperties": %s}'
    )
    closed, opened = at("json_schema", schema % "false", b"{"), at("json_schema", schema % "true", b'{"b":""')
    (sentence,) = explain_stacks(closed.stacks(), closed.grammar.source)
    assert "is expected (for one of the properties `a`, `b`), at line 1" in sentence
    (sentence,) = explain_stacks(opened.stacks(), opened.grammar.source)
    assert "`}`" in sentence
    assert "for " not in sentence  # any other says nothing
    within = at("json_schema", schema % "false", b'{"b')
    (sentence,) = stacks_of(within, b"x")
    assert '`"` is expected (for the property `b`)' in sentence
