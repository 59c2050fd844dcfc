"""What grammars go through on their way to a text: limits, inlining, printing, everyday formats."""

from __future__ import annotations

import json
import re

import pytest
from grammar_language import grammars, language
from hypothesis import assume, given
from hypothesis import strategies as st
from language import matches, nodes
from lockstep import difference, excess

from engine.compile import CompileOptions, compile_grammar
from engine.export import Spelling, to_gbnf, to_regex
from engine.export.conversion import NotConvertibleError
from engine.export.everyday_formats import NAMES, everyday
from engine.export.expressions import choice, depth, literal, mapped, one_of, optional, repeat, sequence, size
from engine.export.flatten import RecursiveError, flatten, is_recursive
from engine.export.llama_limits import within_llama_limits
from engine.export.print_regex import NoRegexError, print_regex
from engine.export.rule_book import RuleBook, kebab
from engine.grammar import EMPTY, NEVER, Grammar, Look, Never, Node, Reference, Repeat, Rule
from engine.grammar.nodes import parts
from engine.grammar.print_gbnf import print_gbnf
from engine.notations.json_schema.formats import format_node
from engine.source import GrammarError, LimitExceededError, Limits, Span

TEXTS = ["", "a", "b", "ab", "ba", "aab", "abab", "bbb", "éa", "aaaa"]


def grammar(**rules: Node) -> Grammar:
    return Grammar(tuple(Rule(name, node) for name, node in rules.items()), "root")


# ---------------------------------------------------------------------- expressions


@given(nodes(looks=False), st.sampled_from(TEXTS))
def test_what_is_put_together_again_has_the_same_language(node, text):
    assert matches(mapped(node, lambda leaf: leaf), text) == matches(node, text)


@given(st.lists(nodes(looks=False), max_size=3), st.sampled_from(TEXTS))
def test_alternatives_and_options(parts, text):
    assert matches(choice(*parts), text) == any(matches(part, text) for part in parts)
    for part in parts:
        assert matches(optional(part), text) == (text == "" or matches(part, text))


@given(nodes(looks=False), st.integers(0, 3), st.none() | st.integers(0, 2), st.sampled_from(TEXTS))
def test_a_repetition(node, minimum, more, text):
    maximum = None if more is None else minimum + more
    assert matches(repeat(node, minimum, maximum), text) == matches(Repeat(node, minimum, maximum), text)


def test_the_simplest_form():
    a, b = literal("a"), literal("b")
    assert sequence(a, repeat(a, 0, None)) == Repeat(a, 1, None)
    assert sequence(EMPTY, a) == a
    assert isinstance(sequence(a, NEVER, b), Never)
    assert choice(a, b, a) == one_of("ab")
    assert choice(EMPTY) == EMPTY
    assert (size(literal("abc")), depth(literal("abc"))) == (3, 0)


# ---------------------------------------------------------------------- rules


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


@given(grammars())
def test_without_rules_the_language_stays(made):
    if is_recursive(made):
        with pytest.raises(RecursiveError):
            flatten(made)
        assert whole_language(flatten(made, 2)) <= language(made, TEXTS)
    else:
        assert whole_language(flatten(made)) == language(made, TEXTS)


def whole_language(node):
    """The texts of one expression; the oracle tries all ways, and an expression without rules can have very many."""
    assume(sum(1 for _ in parts(node)) <= 60)
    return language(Grammar((Rule("root", node),), "root"), TEXTS)


def test_a_depth_counts_how_often_a_rule_stands_within_itself():
    nested = grammar(root=sequence(literal("("), optional(Reference("root")), literal(")")))
    assert [print_regex(flatten(nested, depth)) for depth in (1, 2)] == [r"\(\)", r"\((?:\(\))?\)"]


def test_an_expression_that_grows_too_long_is_refused():
    rules = {f"r{i}": sequence(Reference(f"r{i + 1}"), literal("a"), Reference(f"r{i + 1}")) for i in range(30)}
    doubling = grammar(root=Reference("r0"), **rules, r30=literal("b"))
    with pytest.raises(LimitExceededError, match="parts of an expression"):
        flatten(doubling)


# ---------------------------------------------------------------------- llama.cpp


@pytest.mark.parametrize(
    ("minimum", "maximum"),
    [(0, 1999), (0, 2000), (2, 2500), (3000, 3000), (2001, None), (1999, 4001), (0, 2_100_000), (5, None)],
)
@pytest.mark.parametrize("part", [literal("a"), sequence(literal("a"), optional(literal("b")))])
def test_counts_are_those_that_llama_cpp_takes(minimum, maximum, part):
    text = print_gbnf(within_llama_limits(grammar(root=Repeat(part, minimum, maximum))))
    compiled = compile_grammar("gbnf", text)
    assert not any("compat" in found.code for found in compiled.diagnostics)
    if maximum is not None and maximum > 10_000:
        return
    edges = {minimum - 1, minimum, minimum + 1, 1000, 1999, 2000, 2001, 2999, 3000, 3999}
    edges |= {maximum, maximum + 1, maximum - 1} if maximum is not None else {5000}
    for count in sorted(edge for edge in edges if edge >= 0):
        fits = minimum <= count and (maximum is None or count <= maximum)
        assert compiled.fullmatch("a" * count) == fits, count


# ---------------------------------------------------------------------- regular expressions


@given(nodes(looks=False), st.sampled_from(TEXTS), st.sampled_from(["python", "ecma"]))
def test_a_printed_regex_reads_back(node, text, dialect):
    printed = print_regex(node, dialect)
    again = compile_grammar("regex", printed, CompileOptions(dialect=dialect))
    assert again.fullmatch(text) == matches(node, text)


@given(nodes(looks=False), st.sampled_from(TEXTS))
def test_python_reads_a_printed_regex_the_same_way(node, text):
    assert bool(re.fullmatch(print_regex(node), text)) == matches(node, text)


@given(st.characters(exclude_categories=["Cs"]), st.sampled_from(["python", "ecma"]))
def test_every_character_has_a_spelling(character, dialect):
    for node in (one_of(character), one_of(character + "a-]"), choice(one_of(character), literal("ab"))):
        again = compile_grammar("regex", print_regex(node, dialect), CompileOptions(dialect=dialect))
        assert again.fullmatch(character)
        assert not again.fullmatch("\x00" if character != "\x00" else "\x01")


def test_what_a_regex_cannot_say_is_refused():
    with pytest.raises(NoRegexError, match="reference"):
        print_regex(Reference("a"))
    with pytest.raises(NoRegexError, match="look"):
        print_regex(Look(EMPTY, ahead=True, negated=False))


# ---------------------------------------------------------------------- regex and GBNF


@pytest.mark.parametrize(
    "pattern", [r"[A-Z]+: [a-z]+\n", r"(?=.*b)[ab]{2,6}", r"\bfoo\b|x{3000}", "", r"[^a]\B.", "é|[€😀]"]
)
def test_a_regex_as_gbnf(pattern):
    regex = compile_grammar("regex", pattern)
    written = compile_grammar("gbnf", to_gbnf(regex).text)
    assert difference(regex, written) == ""
    assert written.diagnostics == ()


def test_an_empty_language_stays_one():
    assert compile_grammar("gbnf", to_gbnf(compile_grammar("regex", r"a\bb")).text).is_empty


def test_gbnf_as_a_regex():
    gbnf = compile_grammar("gbnf", 'root ::= x+ ("-" | x)\nx ::= [a-z\\n] "]"{2,3} | "\\\\"\n')
    conversion = to_regex(gbnf)
    assert difference(gbnf, compile_grammar("regex", conversion.text)) == ""
    assert conversion.notes == ()
    cut = to_regex(compile_grammar("gbnf", 'root ::= "(" root? ")"'), depth=2)
    assert cut.text == r"\((?:\(\))?\)"
    assert cut.notes == ("the recursion is cut at 2 levels: what nests deeper is left out",)


@pytest.mark.parametrize(
    ("source", "message"), [('root ::= "a" root?', "refers to itself"), ("root ::= <think>", "no tokenset")]
)
def test_gbnf_that_no_regex_can_say(source, message):
    with pytest.raises(GrammarError, match=message):
        to_regex(compile_grammar("gbnf", source))


def test_what_is_written_in_a_notation_is_not_converted_to_it():
    with pytest.raises(NotConvertibleError):
        to_gbnf(compile_grammar("gbnf", 'root ::= "a"'))
    with pytest.raises(NotConvertibleError):
        to_regex(compile_grammar("regex", "a"))


# ---------------------------------------------------------------------- everyday formats

MET = {
    "date-time": ["2024-02-29T23:59:59Z", "2023-01-31t00:00:00.123+05:30"],
    "time": ["12:30:00Z", "23:59:59.9-11:00"],
    "hostname": ["example.com", "a.b.c.d.e.example.co.uk", "x" * 63 + ".org"],
    "email": ["jane.doe+tag@mail.example.com", "a@b", "first.middle.last@example.org", "x" * 64 + "@a.b.c.de.fg.hi"],
}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_an_everyday_format_is_a_part_of_the_format(name):
    part = compile_grammar("regex", print_regex(everyday(name)))
    schema = compile_grammar("json_schema", json.dumps({"type": "string", "format": name}))
    quoted = compile_grammar("gbnf", to_gbnf(schema).text)
    assert to_gbnf(schema).notes[1].startswith(f"the format {name} has ")
    assert excess(quoted, schema, walks=10, steps=80) == ""
    for text in MET[name]:
        assert part.fullmatch(text)
        assert schema.fullmatch(f'"{text}"')
    assert format_node(name) is not None


def test_the_longest_host_names_fit():
    hosts = compile_grammar("regex", print_regex(everyday("hostname")))
    exact = compile_grammar("json_schema", '{"type": "string", "format": "hostname"}')
    for label, most in ((63, 3), (30, 8)):
        longest = ".".join(["x" * label] * most)
        assert hosts.fullmatch(longest)
        assert exact.fullmatch(f'"{longest}"')
        assert not hosts.fullmatch(longest + ".x" * 5 if most == 8 else longest + "." + "x" * 63)


def test_what_must_not_be_of_a_format_is_not_changed():
    schema = compile_grammar("json_schema", '{"type": "string", "maxLength": 2, "not": {"format": "time"}}')
    conversion = to_gbnf(schema)
    assert len(conversion.notes) == 1
    assert difference(schema, compile_grammar("gbnf", to_gbnf(schema, Spelling.ANY).text), walks=3) == ""
