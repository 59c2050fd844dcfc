"""Numbers as grammar text, against the language that the matcher runs."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from error_keys import raises_code
from hypothesis import given
from hypothesis import strategies as st
from lockstep import excess

from engine.compile import CompiledGrammar, compile_grammar
from engine.export import to_gbnf
from engine.export.schema.numbers import MOST_WHOLE, any_integer, any_number, bounded_number, is_any
from engine.export.schema.settings import NumberSpelling
from engine.grammar import Grammar, Node, Rule, RuleReference
from engine.grammar.print_gbnf import print_gbnf
from engine.schema_automaton.number_languages.language import NumberLanguage
from engine.schema_automaton.number_languages.magnitudes import decimals
from engine.source import Limits

NUMERALS = [
    *("0", "-0", "1", "7", "10", "12", "99", "100", "101", "-1", "-5", "-12", "00", "01", "-", "", "+1", ".5", "1."),
    *("0.0", "-0.0", "0.5", "1.50", "0.05", "12.000", "100.0", "99.99", "-0.5", "0.25", "33.3", "1.2.3"),
    *("1e0", "1e2", "1E+2", "1e-2", "0e9", "5e", "5e+", "-1e1", "0.1e1", "100e-2", "12e-0001", "1e400", "2.5e1"),
]
LANGUAGES = [
    {},
    {"integer": True},
    {"minimum": 0},
    {"exclusive_minimum": 0, "integer": True},
    {"minimum": 0, "maximum": 100, "integer": True},
    {"minimum": -12, "maximum": 99, "integer": True},
    {"minimum": Fraction(1, 4), "exclusive_maximum": 12},
    {"exclusive_minimum": Fraction(1, 2)},
    {"maximum": -1},
    {"multiple_of": (5,), "integer": True},
    {"multiple_of": (6,), "integer": True, "minimum": 10},
    {"not_multiple_of": (2,), "integer": True},
]


def compiled(language: NumberLanguage, spelling: NumberSpelling, *, loops_as_rules: bool = True) -> CompiledGrammar:
    rules: dict[str, Node] = {}

    def namer(state: int, node: Node | None) -> Node:
        if node is not None:
            rules[f"s{state}"] = node
        return RuleReference(f"s{state}")

    if is_any(language):
        root = any_integer() if language.integer else any_number(spelling)
    else:
        root = bounded_number(language, spelling, namer, Limits(), loops_as_rules=loops_as_rules)
    grammar = Grammar((Rule("root", root), *(Rule(name, node) for name, node in rules.items())), "root")
    return compile_grammar("gbnf", print_gbnf(grammar))


def holds(language: NumberLanguage, text: str) -> bool:
    state = language.start
    for byte in text.encode():
        state = None if state is None else language.step(state, byte)
    return state is not None and language.accepts(state)


@pytest.mark.parametrize("conditions", LANGUAGES, ids=str)
@pytest.mark.parametrize("loops_as_rules", [False, True])
def test_the_text_is_the_language(conditions, loops_as_rules):
    language = NumberLanguage(**conditions)
    whole = compiled(language, NumberSpelling.ANY, loops_as_rules=loops_as_rules)
    plain = compiled(language, NumberSpelling.PLAIN, loops_as_rules=loops_as_rules)
    for text in NUMERALS:
        assert whole.fullmatch(text) == holds(language, text), text
        assert plain.fullmatch(text) == (holds(language, text) and "e" not in text.lower()), text


@given(st.integers(-300, 300), st.integers(0, 300), st.integers(-400, 400))
def test_a_range_of_integers_is_that_range(low, width, number):
    grammar = compiled(NumberLanguage(minimum=low, maximum=low + width, integer=True), NumberSpelling.PLAIN)
    assert grammar.fullmatch(str(number)) == (low <= number <= low + width)


def test_a_range_reads_as_people_write_it():
    def shown(**conditions):
        language = NumberLanguage(**conditions)
        node = bounded_number(
            language, NumberSpelling.PLAIN, lambda *_: pytest.fail("a rule"), Limits(), loops_as_rules=True
        )
        return print_gbnf(Grammar((Rule("root", node),), "root"))

    assert shown(minimum=1, integer=True) == "root ::= [1-9] [0-9]*\n"
    assert shown(minimum=0, maximum=1) == 'root ::= "-0" ("." "0"+)? | "0" ("." [0-9]+)? | "1" ("." "0"+)?\n'
    assert shown(minimum=1950, maximum=2037, integer=True) == (
        'root ::= "19" [5-9] [0-9] | "20" ([0-2] [0-9] | "3" [0-7])\n'
    )


MULTIPLES = [
    {"multiple_of": (Fraction(1, 100),)},
    {"multiple_of": (Fraction(1, 2),), "minimum": 0, "maximum": 100},
    {"multiple_of": (Fraction(3, 10),)},
    {"multiple_of": (7,), "exclusive_minimum": 0},
    {"not_multiple_of": (Fraction(1, 2),)},
]


@pytest.mark.parametrize("conditions", MULTIPLES, ids=str)
def test_multiples_with_a_fraction_are_written_with_so_many_digits(conditions):
    language = NumberLanguage(**conditions)
    plain = compiled(language, NumberSpelling.PLAIN)
    behind = max(decimals(Fraction(each)) for each in (*language.multiple_of, *language.not_multiple_of))
    numerals = {f"{sign}{number / 100:g}" for number in range(0, 3000, 5) for sign in ("", "-")}
    for text in (*NUMERALS, *numerals, "7" * MOST_WHOLE, "7" * (MOST_WHOLE + 1), "0.30", "0.300", "1.999", "-0"):
        is_short = "e" not in text.lower() and len(text.partition(".")[2]) <= behind and len(text) <= MOST_WHOLE
        is_short = is_short or text == "7" * MOST_WHOLE
        if is_short or not holds(language, text):
            assert plain.fullmatch(text) == holds(language, text), text


@pytest.mark.parametrize("conditions", MULTIPLES, ids=str)
def test_those_are_a_part_of_the_multiples(conditions):
    words = {
        "multiple_of": "multipleOf",
        "minimum": "minimum",
        "maximum": "maximum",
        "exclusive_minimum": "exclusiveMinimum",
    }
    stated = {words[key]: value for key, value in conditions.items() if key in words}
    schema: dict[str, object] = {
        "type": "number",
        **{key: float(value[0]) if isinstance(value, tuple) else value for key, value in stated.items()},
    }
    if "not_multiple_of" in conditions:
        schema["not"] = {"multipleOf": float(conditions["not_multiple_of"][0])}
    whole = compile_grammar("json_schema", json.dumps(schema))
    conversion = to_gbnf(whole)
    assert any(f"{MOST_WHOLE} digits" in note for note in conversion.notes)
    assert excess(compile_grammar("gbnf", conversion.text), whole, walks=3, steps=30) == ""
    with raises_code("export-too-large"):
        to_gbnf(whole, NumberSpelling.ANY)
