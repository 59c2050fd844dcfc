"""Comparison of two languages: against all short texts, by definition, and in cases that are hard."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from grammar_language import grammars, language
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language import ALPHABET, matches, nodes

from engine import CompileOptions, compile_grammar
from engine.analysis.equivalence import compare_languages
from engine.analysis.language_comparison import LanguageComparison, Relation
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import assemble
from engine.compile import CompiledGrammar
from engine.grammar import Node
from engine.grammar.print_gbnf import print_gbnf
from engine.grammar.simplify import simplify
from engine.source import CancelledError, CancelToken, GrammarError, Limits, SourceText

_TEXTS = ["".join(text) for length in range(5) for text in product(ALPHABET, repeat=length)]
_IS_SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
_BIG = Limits(configurations=4_000, search=400, threads=1_000)


def compared(notation: str, first: Any, second: Any, other: str | None = None, **options: Any) -> LanguageComparison:
    """Compare two texts, or two schemas that are written as values."""
    one, two = (text if isinstance(text, str) else json.dumps(text) for text in (first, second))
    return compare_languages(compile_grammar(notation, one), compile_grammar(other or notation, two), **options)


def _compiled(node: Node) -> CompiledGrammar:
    automaton = LazyAutomaton(assemble(simplify(node), Limits()), Limits())
    return CompiledGrammar("regex", SourceText(repr(node)), CompileOptions(), (), automaton, is_regular=True)


def check(result: LanguageComparison, first: set[str], second: set[str], longest: int) -> None:
    """Compare a result with all texts of up to `longest` characters of two languages, over `ALPHABET`."""
    for found, only in ((result.only_first, first - second), (result.only_second, second - first)):
        shortest = min((len(text.encode()) for text in only), default=None)
        if shortest is None:
            text = "" if found is None else found.decode()
            assert found is None or len(text) > longest or not set(text) <= set(ALPHABET)
        elif result.is_exact or shortest <= result.length:
            assert found is not None
            assert len(found) <= shortest
        if found is not None and set(found.decode()) <= set(ALPHABET) and len(found.decode()) <= longest:
            assert found.decode() in only
            assert len(found) == shortest


@settings(max_examples=200, deadline=None, suppress_health_check=_IS_SLOW)
@given(nodes(looks=True), nodes(looks=True))
def test_expressions_differ_by_the_texts_by_which_their_definitions_differ(first, second):
    result = compare_languages(_compiled(first), _compiled(second))
    assert result.is_exact
    check(result, *({text for text in _TEXTS if matches(node, text)} for node in (first, second)), longest=4)


@settings(max_examples=60, deadline=None, suppress_health_check=_IS_SLOW)
@given(grammars(), grammars())
def test_rules_differ_by_the_texts_by_which_their_definitions_differ(first, second):
    one, two = (
        compile_grammar("gbnf", print_gbnf(grammar), CompileOptions(limits=_BIG)) for grammar in (first, second)
    )
    result = compare_languages(one, two, effort=300)
    assert result.is_exact or not (one.is_regular and two.is_regular) or result.n_visited >= 300
    check(result, *(language(grammar, _TEXTS) for grammar in (first, second)), longest=4)


# ---------------------------------------------------------------------- schemas

_LEAVES = st.sampled_from(
    [
        {"type": "integer"},
        {"type": "integer", "minimum": 0, "maximum": 1},
        {"type": "integer", "multipleOf": 2},
        {"const": "a"},
        {"enum": [0, "a", None]},
        {"type": "null"},
        {"type": "string", "maxLength": 1},
        {"type": "string", "pattern": "^a*$"},
        {"type": "string", "pattern": "^a{0,2}$"},
        {"$ref": "#"},
        {},
        False,
    ]
)


def _schemas() -> st.SearchStrategy[Any]:
    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        array = st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"maxItems": st.integers(0, 2), "uniqueItems": st.booleans()},
        )
        properties = st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        record = st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": properties,
                "additionalProperties": st.one_of(st.just(False), inner),
            },
            optional={"required": st.lists(st.sampled_from("ab"), max_size=1), "maxProperties": st.integers(0, 2)},
        )
        choice = st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)})
        both = st.fixed_dictionaries({"allOf": st.lists(inner, min_size=2, max_size=2)})
        return st.one_of(array, record, choice, both)

    return st.recursive(_LEAVES, extend, max_leaves=4)


_BYTES = b'[]{}:,"a01nul- '
_MOST_PREFIXES = 1_500


def _texts(compiled: CompiledGrammar) -> tuple[set[bytes], int]:
    """Return the short texts of some bytes, found byte by byte, and the length up to which all are there."""
    automaton, texts, length = compiled.automaton, set[bytes](), 0
    live = {} if compiled.is_empty else {b"": automaton.cursor(automaton.start)}
    while True:
        texts |= {text for text, cursor in live.items() if automaton.min_remaining(cursor).at_least == 0}
        if len(live) > _MOST_PREFIXES or length == 12:
            return texts, length
        steps = ((text, byte, automaton.advance(cursor, byte)) for text, cursor in live.items() for byte in _BYTES)
        live = {text + bytes((byte,)): after for text, byte, after in steps if after is not None}
        length += 1


@settings(max_examples=80, deadline=None, suppress_health_check=_IS_SLOW)
@given(_schemas(), _schemas())
def test_schemas_differ_by_the_texts_by_which_their_automata_differ(first, second):
    options = CompileOptions(whitespace="compact")
    try:
        one, two = (compile_grammar("json_schema", json.dumps(schema), options) for schema in (first, second))
    except GrammarError:
        return  # what no automaton has is refused
    result = compare_languages(one, two, effort=3_000)
    (ours, length), (theirs, its_length) = _texts(one), _texts(two)
    longest = min(length, its_length)
    for found, only in ((result.only_first, ours - theirs), (result.only_second, theirs - ours)):
        shortest = min((len(text) for text in only if len(text) <= longest), default=None)
        if shortest is None:
            assert found is None or len(found) > longest or not set(found) <= set(_BYTES)
        elif found is None:
            assert not result.is_exact
            assert result.length < shortest
        elif result.is_exact or len(found) <= result.length + 1:
            assert len(found) <= shortest


@settings(max_examples=40, deadline=None, suppress_health_check=_IS_SLOW)
@given(_schemas())
def test_a_schema_equals_itself_and_what_is_built_around_it(schema):
    for other in ({"allOf": [schema]}, {"anyOf": [schema, schema]}):
        if "$ref" in json.dumps(schema):
            continue  # it would refer to the whole
        result = compared("json_schema", schema, other)
        assert (result.only_first, result.only_second) == (None, None)
        assert result.is_exact or "uniqueItems" in json.dumps(schema) or "maxProperties" in json.dumps(schema)


# ---------------------------------------------------------------------- hard cases


@pytest.mark.parametrize(
    ("first", "second", "relation", "only_first", "only_second"),
    [
        ("a*", "(a|aa)*", Relation.EQUAL, None, None),
        ("(?!)", "[^\\s\\S]", Relation.EQUAL, None, None),
        ("(?!)", "b|a", Relation.NARROWER, None, b"a"),
        ("a?", "(?!)", Relation.WIDER, b"", None),
        ("x{0,300}", "x{0,299}", Relation.WIDER, b"x" * 300, None),
        ("[\\u0000-\\U0010ffff]", "(?s:.)", Relation.EQUAL, None, None),
        ("[à-ü]", "[à-ýé]", Relation.NARROWER, None, "ý".encode()),
        ("(?=.*b)[ab]{2}", "ab|ba|bb", Relation.EQUAL, None, None),
        ("ab|cd", "cd|ef", Relation.DIFFERENT, b"ab", b"ef"),
        ("[^b]c", "[^a]c", Relation.DIFFERENT, b"ac", b"bc"),
    ],
)
def test_two_expressions(first, second, relation, only_first, only_second):
    result = compared("regex", first, second)
    assert (result.relation, result.only_first, result.only_second) == (relation, only_first, only_second)
    assert result.is_exact
    assert result.length is None


def test_notations_are_compared_with_each_other():
    assert compared("regex", "[ab]{2}", "root ::= [ab] [ab]", "gbnf").relation is Relation.EQUAL
    assert compared("json_schema", {"enum": ["a", 1]}, 'root ::= "\\"a\\"" | "1" | "2"', "gbnf").only_second == b"2"


def test_rules_that_nest_without_bound_are_compared_up_to_a_length_that_is_told():
    brackets = 'root ::= "(" root ")" | "x"'
    result = compared("gbnf", brackets, 'root ::= "x" | "(" root ")"', effort=100)
    assert (result.relation, result.is_exact) == (Relation.UNKNOWN, False)
    assert result.n_visited == 100
    assert 40 < result.length <= 100
    differs = compared("gbnf", brackets, 'root ::= "(" root ")" | "x" | "((y))"', effort=100)
    assert (differs.relation, differs.only_second) == (Relation.UNEQUAL, b"((y))")


@pytest.mark.parametrize(
    ("first", "second", "is_alike"),
    [
        ('root ::= a\na ::= "(" a ")" | "x"', '# the same\nroot ::= b\nb ::=\n  "(" b ")" |\n  [x]\n', True),
        ('root ::= a b\na ::= "(" b ")"\nb ::= a | "x"', 'root ::= p q\nq ::= p | "x"\np ::= "(" q ")"', True),
        ('root ::= a a\na ::= "(" a ")" | "x"', 'root ::= a b\na ::= "(" b ")" | "x"\nb ::= "(" a ")" | "x"', True),
        ('root ::= "(" root ")" | <[1]>', 'root ::= b\nb ::= "(" b ")" | <[1]>', False),
        ('root ::= "(" root ")" | <[1]>', 'root ::= "(" root ")"|<[1]>', True),
        ('root ::= "(" root ")" | <[1]>', 'root ::= "(" root ")"|<[2]>', False),
        ('root ::= "(" root{2} ")" | "x"', 'root ::= "(" root{2,3} ")" | "x"', False),
        ('root ::= a | "x"\na ::= "(" root ")"', 'root ::= a | "x"\na ::= "(" a ")" | "(x)"', False),
    ],
)
def test_rules_that_are_written_alike_are_equal_whatever_their_names_and_layout(first, second, is_alike):
    result = compared("gbnf", first, second, effort=50)
    assert (result.relation is Relation.EQUAL) == is_alike
    assert result.is_exact == is_alike


def test_tokens_as_units_leave_an_equality_open():
    result = compared("gbnf", 'root ::= "a" | <[1]>', 'root ::= "a" | <[2]>')
    assert (result.relation, result.is_exact) == (Relation.UNKNOWN, False)
    assert compared("gbnf", 'root ::= "a" | <[1]>', 'root ::= "b"').relation is Relation.DIFFERENT


_TREE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "l": {"type": "array", "items": {"$ref": "#"}}},
    "additionalProperties": False,
}
_LONG, _SHORT = ({"properties": {"a": {"maxLength": most}}} for most in (60, 50))
_UNIQUE = {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}


def _with_integers(schema: Any, **keywords: int) -> Any:
    return json.loads(json.dumps(schema).replace('"integer"', f'"integer", {json.dumps(keywords)[1:-1]}'))


def _with_references(schema: Any, target: str) -> Any:
    return json.loads(json.dumps(schema).replace('"#"', json.dumps(target)))


@pytest.mark.parametrize(
    ("first", "second", "relation", "text"),
    [
        ({}, {"type": ["object", "array", "string", "number", "boolean", "null"]}, Relation.EQUAL, None),
        ({}, False, Relation.WIDER, b"0"),
        (False, {"not": {}}, Relation.EQUAL, None),
        ({"format": "hostname"}, {"format": "hostname"}, Relation.EQUAL, None),
        ({"type": "integer"}, {"type": "number"}, Relation.NARROWER, b"0e0"),
        ({"items": {}}, {"items": {}, "maxItems": 50}, Relation.WIDER, b"[" + b"0," * 50 + b"0]"),
        (_TREE, _with_integers(_TREE, minimum=0), Relation.WIDER, b'{"v":-1}'),
        (_TREE, {"$ref": "#/$defs/t", "$defs": {"t": _with_references(_TREE, "#/$defs/t")}}, Relation.EQUAL, None),
        (_LONG, _SHORT, Relation.WIDER, b'{"a":"' + b"a" * 51 + b'"}'),
        ({"enum": [["aaaa", "bbbb"], "aaaaaaaa"]}, {"const": 1}, Relation.DIFFERENT, b'"aaaaaaaa"'),
        (_UNIQUE, {"enum": [[1, 2], [2, 1], [1], [2], []]}, Relation.EQUAL, None),
        (_UNIQUE, {"enum": [[1, 2], [1], [2], []]}, Relation.WIDER, b"[2,1]"),
        (_UNIQUE, {"enum": [[1], [2], []]}, Relation.WIDER, b"[1,2]"),
        ({**_UNIQUE, "minItems": 2}, {"enum": [[1, 2]]}, Relation.WIDER, b"[2,1]"),
        ({**_UNIQUE, "items": {"const": 1}}, {"enum": [[1], [], [1, 1]]}, Relation.NARROWER, b"[1,1]"),
    ],
)
def test_schemas_are_compared_exactly_however_deep_their_values_nest(first, second, relation, text):
    result = compared("json_schema", first, second)
    assert (result.relation, result.is_exact) == (relation, True)
    assert text in (result.only_first, result.only_second)


def test_items_that_must_differ_leave_a_bound():
    result = compared(
        "json_schema", {"items": {"type": "integer"}, "type": "array", "uniqueItems": True}, {"type": "array"}
    )
    assert (result.relation, result.only_second) == (Relation.UNEQUAL, b'[""]')
    assert not result.is_exact
    assert result.length >= 3


@pytest.mark.parametrize(
    ("notation", "first", "second"),
    [
        ("json_schema", {"type": "array", "uniqueItems": True}, {"type": "array", "uniqueItems": True, "maxItems": 3}),
        ("gbnf", 'root ::= [a-z] | "(" root* ")"', 'root ::= [a-z] | "(" root{0,8} ")"'),
    ],
)
def test_random_walks_find_what_lies_beyond_the_bound(notation, first, second):
    result = compared(notation, first, second, effort=100)
    assert (result.relation, result.is_exact) == (Relation.UNEQUAL, False)
    assert len(result.only_first) > result.length + 1
    assert result == compared(notation, first, second, effort=100)


def test_the_most_legible_of_the_shortest_texts_is_found():
    assert compared("regex", "[^c]|bb|[\\x00-\\x20]x", "b").only_first == b"a"
    assert compared("regex", "[^a-z0]", "A").only_first == b"1"


def test_many_alternatives_differ_by_one():
    words = [f"w{number:03d}" for number in range(1_000)]
    result = compared("regex", "|".join(words), "|".join(words[:-1]))
    assert (result.relation, result.only_first) == (Relation.WIDER, b"w999")


def test_a_comparison_reports_progress_and_can_be_cancelled():
    stages = []

    def progress(stage, done, total):
        stages.append((stage, done, total))
        if len(stages) == 3:
            token.cancel()

    token = CancelToken(progress)
    with pytest.raises(CancelledError):
        compared("regex", "(a|b)*a(a|b){9}", "(a|b)*b(a|b){9}", cancel=token)
    assert [done for _, done, _ in stages] == [0, 64, 128]
