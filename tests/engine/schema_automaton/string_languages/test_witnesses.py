"""Sample strings and prefixes decide a formula over strings as the search over its product does."""

from unittest.mock import patch

import pytest
from hypothesis import given, settings

from engine.compile import compile_grammar
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.schema_automaton.string_languages.products import TextProduct
from engine.schema_automaton.string_languages.witnesses import Witnesses
from engine.source import Limits, Span
from tests.engine.schema_automaton.string_formulas import TEXTS, build, formulas, holds, node_of


def searched(formula):
    """Return whether the product has a string, without samples."""
    with patch.object(Witnesses, "verdict", lambda *_: None):
        language = TextLanguage(formula, Witnesses(Limits(), Escapes.SHORTEST))
    return language.start is not None


def pattern_of(arena, text):
    return arena.text(lambda: node_of(text), ("pattern", text), Span(0, 1))


@settings(max_examples=60)
@given(formulas)
def test_a_verdict_is_that_of_the_search(formula):
    built = build(Arena(), formula)
    verdict = Witnesses(Limits(), Escapes.SHORTEST).verdict(built)
    assert verdict is None or verdict is searched(built)


@settings(max_examples=40)
@given(formulas)
def test_strings_satisfy_the_formula(formula):
    built = build(Arena(), formula)
    found = Witnesses(Limits(), Escapes.SHORTEST).strings(built, 3)
    assert len(set(found)) == len(found) <= 3
    language = TextLanguage(built, Witnesses(Limits(), Escapes.SHORTEST))
    for text in found:
        assert language.holds(text)
        assert text not in TEXTS or holds(formula, text)


def test_patterns_with_different_beginnings_exclude_each_other():
    arena, witnesses = Arena(), Witnesses(Limits(), Escapes.SHORTEST)
    one, other, both = (pattern_of(arena, text) for text in ("^x-ab[a-z]+$", "^x-cd", "^x-a"))
    assert witnesses.verdict(arena.all_of((one, other))) is False
    assert witnesses.verdict(arena.all_of((one, both))) is True
    assert witnesses.verdict(arena.all_of((one, arena.negate(one)))) is False


@pytest.mark.parametrize(
    ("least", "most", "excluded", "possible"),
    [(5, 5, (), False), (4, 6, (), True), (4, 4, ("abab",), False), (4, 6, ("abab",), True), (7, None, (), True)],
)
def test_a_pattern_within_bounds_of_the_length(least, most, excluded, possible):
    arena = Arena()
    parts = [pattern_of(arena, "^(?:ab)+$"), arena.length(least, most, Span(0, 1))]
    parts += [arena.negate(arena.enum((text,), Span(0, 1))) for text in excluded]
    assert searched(arena.all_of(parts)) is possible


def test_many_key_patterns_build_no_product_before_a_key_is_read():
    patterns = ", ".join(f'"^x-{letter}[a-z]+$": {{"type": "integer"}}' for letter in "abcdefgh")
    schema = f'{{"type": "object", "patternProperties": {{{patterns}}}, "additionalProperties": false}}'
    made = []
    build_product = TextProduct.__init__

    def counted(self, *arguments):
        made.append(self)
        build_product(self, *arguments)

    with patch.object(TextProduct, "__init__", counted):
        grammar = compile_grammar("json_schema", schema)
        assert grammar.fullmatch(b'{"x-ab": 1, "x-hz": 2}')
        assert not grammar.fullmatch(b'{"x-ib": 1}')
    assert not made
