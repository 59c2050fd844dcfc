"""Deep nesting, in the grammar and in the text: it works or is refused with the place, and no stack overflows."""

from __future__ import annotations

import threading

import heavy_grammars
import pytest

from engine import CompiledGrammar, CompileOptions, compile_grammar
from engine.source import GrammarError, Limits

DEEP = 1_000
ENDLESS = 100_000


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("(?:a|", ")*"), ("(?:x?", "){2}"), ("(?i:", "|b)"), ("(?=", ")?c"), ("(?!", "|b)"), ("(?<=", ")")],
)
def test_groups_of_a_regex(opening: str, closing: str) -> None:
    options = CompileOptions(limits=Limits(repetition=2**DEEP))
    try:
        compile_grammar("regex", opening * DEEP + "a" + closing * DEEP, options)
    except GrammarError as error:
        assert {found.code for found in error.diagnostics} <= {"limit-exceeded"}  # noqa: PT017


def test_nested_groups_match_what_they_should() -> None:
    assert compile_grammar("regex", heavy_grammars.nested_regex(DEEP)).fullmatch("a" + "b" * DEEP)
    assert compile_grammar("gbnf", heavy_grammars.nested_gbnf(DEEP)).fullmatch("a" + "b" * DEEP)


def test_a_nested_schema_matches_what_it_should() -> None:
    grammar = compile_grammar("json_schema", heavy_grammars.nested_schema(DEEP))
    assert grammar.fullmatch('{"a":' * DEEP + "null" + "}" * DEEP)
    assert not grammar.fullmatch('{"a":' * (DEEP - 1) + "null" + "}" * (DEEP - 1))


@pytest.mark.parametrize("keyword", ["not", "allOf", "anyOf", "items", "if", "contains", "additionalProperties"])
def test_a_keyword_within_itself(keyword: str) -> None:
    opening, closing = (f'{{"{keyword}":[', "]}") if keyword.endswith("Of") else (f'{{"{keyword}":', "}")
    grammar = compile_grammar("json_schema", opening * DEEP + '{"type":"null"}' + closing * DEEP)
    assert grammar.fullmatch("null")


def test_a_deep_value_can_be_asked_for() -> None:
    value = "[" * DEEP + "]" * DEEP
    assert compile_grammar("json_schema", f'{{"const":{value}}}').fullmatch(value)
    assert compile_grammar("json_schema", f'{{"enum":[1,{value}]}}').fullmatch(value)


@pytest.mark.parametrize(
    ("notation", "text", "code"),
    [
        ("regex", heavy_grammars.nested_regex(ENDLESS), "regex-nesting-limit"),
        ("regex", "(" * ENDLESS, "regex-nesting-limit"),
        ("gbnf", heavy_grammars.nested_gbnf(ENDLESS), "gbnf-nesting-limit"),
        ("gbnf", "root ::= " + "(" * ENDLESS, "gbnf-nesting-limit"),
        ("json_schema", heavy_grammars.nested_schema(10_000), "schema-too-deep"),
        ("json_schema", "[" * ENDLESS, "schema-too-deep"),
        ("json_schema", '{"const":' + "[" * ENDLESS + "]" * ENDLESS + "}", "schema-too-deep"),
    ],
)
def test_too_deep_is_one_finding_where_it_gets_too_deep(notation: str, text: str, code: str) -> None:
    with pytest.raises(GrammarError, match="2,500") as caught:
        compile_grammar(notation, text)
    (finding,) = caught.value.diagnostics
    assert finding.code == code
    assert finding.span.start < 60_000
    assert finding.span.end - finding.span.start <= 3


def matches_in_a_small_stack(grammar: CompiledGrammar, text: str) -> bool:
    """Where what recurses in C comes to its end at an eighth of the depth that a usual stack of 8 MiB has room for."""
    found: list[bool] = []
    before = threading.stack_size(2**20)
    try:
        thread = threading.Thread(target=lambda: found.append(grammar.fullmatch(text)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return found == [True]


@pytest.mark.parametrize("depth", [DEEP, ENDLESS // 5])
def test_a_text_may_be_nested_deeper_than_any_grammar(depth: int) -> None:
    options = CompileOptions(limits=Limits(configurations=3 * ENDLESS))
    schema = compile_grammar("json_schema", heavy_grammars.RECURSIVE_SCHEMA, options)
    assert matches_in_a_small_stack(schema, "[" * depth + "]" * depth)
    rules = compile_grammar("gbnf", heavy_grammars.RECURSIVE_GBNF, options)
    assert matches_in_a_small_stack(rules, "[{" * (depth // 2) + "x" + "}]" * (depth // 2))


def test_every_level_of_a_text_is_closed_as_it_was_opened() -> None:
    schema = compile_grammar("json_schema", heavy_grammars.RECURSIVE_SCHEMA)
    assert schema.fullmatch('[{"a":' * DEEP + "[]" + "}]" * DEEP)
    assert not schema.fullmatch("[" * DEEP + "null" + "]" * (DEEP - 1))
    assert not schema.fullmatch('[{"a":' * DEEP + "[]" + "]}" * DEEP)
    rules = compile_grammar("gbnf", heavy_grammars.RECURSIVE_GBNF)
    assert not rules.fullmatch("[" * DEEP + "x" + "]" * (DEEP - 1))


def test_a_thousand_rules_that_all_use_one_another() -> None:
    rules = compile_grammar("gbnf", heavy_grammars.gbnf_mutual(1_000))
    assert rules.fullmatch("d0")
    assert rules.fullmatch("aed2db")
    assert not rules.fullmatch("aed2d")
    schema = compile_grammar("json_schema", heavy_grammars.schema_mutual(1_000))
    assert schema.fullmatch('{"a":{"a":{}}}') is False
    assert schema.fullmatch("{}")


def test_rules_that_all_begin_with_one_another() -> None:
    rules = compile_grammar("gbnf", heavy_grammars.gbnf_left_recursive(60))
    assert rules.fullmatch("d0")
    assert rules.fullmatch("d5ccccc")
    assert rules.fullmatch("ad1b")
    assert not rules.fullmatch("ad1c")
