"""Grammars written as GBNF and read back: the same language, in llama.cpp's own terms."""

from __future__ import annotations

import re
from itertools import islice, product

import hostile_grammars
import pytest
from corpora import cases
from grammar_language import grammars, language, matches
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language import ALPHABET

from engine.grammar import (
    Chars,
    CharSet,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    Rule,
    RuleReference,
    Sequence,
)
from engine.grammar import TokenSet as Tokens
from engine.grammar.print_gbnf import NoGbnfError, print_gbnf
from engine.notations.gbnf.parser import parse
from engine.source import GrammarError, Limits, Severity, SourceText

TEXTS = ["".join(chars) for length in range(5) for chars in product(ALPHABET, repeat=length)]
A, B = Chars(CharSet.chars("a")), Chars(CharSet.chars("b"))


def grammar(**rules: Node) -> Grammar:
    return Grammar(tuple(Rule(name, node) for name, node in rules.items()), next(iter(rules)))


def read(text: str) -> Grammar:
    return parse(SourceText(text), Limits())[0]


def body(node: Node) -> str:
    return print_gbnf(grammar(root=node)).removeprefix("root ::= ").removesuffix("\n")


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(grammars())
def test_the_language_stays(made: Grammar) -> None:
    again = read(print_gbnf(made))
    assert language(again, TEXTS) == language(made, TEXTS), print_gbnf(made)


@given(st.lists(st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 0x10FFFF)).map(sorted), min_size=1, max_size=4))
def test_sets_come_back_as_they_were(pairs: list[list[int]]) -> None:
    characters = CharSet.of((first, last) for first, last in pairs)
    node = read(print_gbnf(grammar(root=Chars(characters)))).rules[0].node
    surrogates = CharSet(((0xD800, 0xDFFF),))
    assert (node.set if isinstance(node, Chars) else CharSet()) - surrogates == characters - surrogates


@given(st.text("^-[]\\\"'\n\r\t\0\x7fé😀a/|#<!{", min_size=1, max_size=6))
def test_characters_come_back_as_they_were(text: str) -> None:
    literal = Sequence(tuple(Chars(CharSet.chars(char)) for char in text))
    again = read(print_gbnf(grammar(root=Sequence((literal, Chars(CharSet.chars(text))))))).rules[0].node
    assert isinstance(again, Sequence)
    assert again.items[-1] == Chars(CharSet.chars(text), again.items[-1].span)
    assert matches(Grammar((Rule("root", again),), "root"), text + text[0])


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Empty(), '""'),
        (Never(), "[b-a]"),
        (Sequence((A, B, Repeat(A, 0, None))), '"ab" "a"*'),
        (Repeat(Sequence((A, B)), 1, None), '"ab"+'),
        (Repeat(Sequence((A, Chars(CharSet.chars("ab")))), 1, None), '("a" [ab])+'),
        (Repeat(Choice((A, B)), 2, 5), '("a" | "b"){2,5}'),
        (Repeat(Repeat(A, 0, 1), 3, 3), '("" "a"?){3}'),
        (Repeat(Repeat(Empty(), 0, 1), 1, None), '""'),
        (Repeat(A, 2, None), '"a"{2,}'),
        (Repeat(A, 0, 0), '""'),
        (Repeat(A, 1, 1), '"a"'),
        (Sequence((A, Choice((B, Empty())))), '"a" ("b" | "")'),
        (Chars(CharSet.chars("^]-")), r"[\]\x5E-]"),
        (Chars(CharSet.chars("+-")), "[+-]"),
        (Chars(CharSet.chars("+,-")), "[+,-]"),
        (Chars(CharSet.chars("-./")), "[./-]"),
        (Chars(CharSet.chars("*+,-./")), "[*-/]"),
        (Chars(~CharSet.chars("-")), "[^-]"),
        (Chars(~CharSet.chars('"\n')), r'[^\n"]'),
        (Chars(CharSet(((0, 0x1F), (0x61, 0x66)))), r"[a-f\x00-\x1F]"),
        (Chars(CharSet(((0x0B, 0x0B), (0x30, 0x80)))), r"[0-\x80\x0B]"),
        (Chars(~CharSet(((0, 0x1F), (0x22, 0x22), (0xD800, 0xDFFF)))), r'[^"\x00-\x1F]'),
        (Chars(~CharSet(((0x75, 0xD7FF), (0xE000, 0xF000)))), r"[^u-\uF000]"),
        (Chars(CharSet(((0, 0x10FFFF),))), "[\\x00-\\uD7FF\\uE000-\U0010ffff]"),
        (Chars(CharSet(((0xD800, 0xD8FF),))), "[b-a]"),
        (
            Sequence(tuple(Chars(CharSet.chars(char)) for char in "\x00a\x1f-\u0378\u2028\U000e0001")),
            ('"\\x00" "a\\x1F-\u0378\\u2028\U000e0001"'),
        ),
        (Tokens(("<think>",), (), negated=True), "!<think>"),
        (Repeat(Tokens(("<a>",), (7,), negated=False), 0, 1), "(<a> | <[7]>)?"),
    ],
)
def test_how_it_reads(node: Node, text: str) -> None:
    assert body(node) == text


def test_names_are_those_that_llama_cpp_takes() -> None:
    made = grammar(
        start=Sequence(
            (
                RuleReference("a_b"),
                RuleReference("a-b"),
                RuleReference("root"),
                RuleReference("é"),
                RuleReference("$/x"),
            )
        ),
        **{"a_b": A, "a-b": B, "root": A, "é": B, "$/x": A},
    )
    text = print_gbnf(made)
    assert [line.split()[0] for line in text.splitlines()] == ["root", "a-b-1", "a-b", "root-1", "rule", "x"]
    assert parse(SourceText(text), Limits())[1] == ()


def test_no_two_names_are_one_in_another_reader() -> None:
    names = ["begin", "fooBar", "foo-bar", "FOO-BAR", "foo-bar-1", "start", "Start", "1a", "-a-", "true", "Token"]
    text = print_gbnf(grammar(**dict.fromkeys(names, A)))
    found = [line.split()[0] for line in text.splitlines()]
    assert found == [
        *("root", "fooBar", "foo-bar-2", "FOO-BAR-3", "foo-bar-1", "start-1", "Start-2"),
        *("rule-1a", "a", "true-rule", "Token-rule"),
    ]


_LITERAL = r'"(?:[^"\\\x00-\x1f\x7f-\x9f]|\\(?:[nrt"\\]|x[0-9A-F]{2}(?![0-9A-Fa-f])|u[1-9A-F][0-9A-F]{3}))*"'
_MEMBER = (
    r"(?:[^]\[^\\\x00-\x1f\x7f-\x9f-]|\\(?:[nrt\\\[\]]|x[0-9A-F]{2}(?![0-9A-Fa-f])|u(?!D[89A-F])[1-9A-F][0-9A-F]{3}))"
)
_CLASS = rf"\[\^?(?:{_MEMBER}(?:-{_MEMBER})?)*-?\]"
_TERM = rf"(?:{_LITERAL}|{_CLASS}|[A-Za-z][A-Za-z0-9-]*|[()|*+?]|\{{[0-9]+(?:,[0-9]*)?\}}| |\|\n  )"
_SUBSET = re.compile(rf"(?:[A-Za-z][A-Za-z0-9-]* ::= {_TERM}+\n)+")


@pytest.mark.parametrize("negates", [False, True])
def test_only_what_all_readers_share_is_written(negates: bool) -> None:
    """Xgrammar and llguidance themselves are asked in `test_with_peers`, llama.cpp in `tests.llama_cpp`."""
    for made, _ in islice(hostile_grammars.cases(3), 300):
        text = print_gbnf(made, negates=negates)
        assert _SUBSET.fullmatch(text), text
        names = [
            re.sub("([a-z])([A-Z])", r"\1_\2", line.split()[0]).replace("-", "_").lower()
            for line in text.splitlines()
            if "::=" in line
        ]
        assert len(set(names)) == len(names)
        assert not negates or "\\uD800" not in text
        parts = re.findall(f"{_LITERAL}|{_CLASS}", text)  # from left to right: a quote in a class begins no literal
        assert negates or not any(part.startswith("[^") for part in parts)


def test_the_hostile_characters_come_back() -> None:
    for made, texts in islice(hostile_grammars.cases(4), 100):
        for negates in (False, True):
            again = read(print_gbnf(made, negates=negates))
            assert language(again, texts) == language(made, texts)


def test_long_alternatives_go_on_new_lines() -> None:
    made = grammar(root=Choice(tuple(Sequence((A, RuleReference("number"))) for _ in range(10))), number=B)
    text = print_gbnf(made)
    assert max(len(line) for line in text.splitlines()) < 100
    assert parse(SourceText(text), Limits())[1] == ()


@pytest.mark.parametrize(
    "node",
    [Lookaround(A, ahead=True, negated=False), Tokens(("<a>", "<b>"), (), negated=True), Tokens(("a",), (), False)],
)
def test_what_gbnf_cannot_say_is_refused(node: Node) -> None:
    with pytest.raises(NoGbnfError):
        print_gbnf(grammar(root=node))


def test_depth_costs_no_frames() -> None:
    node: Node = A
    for _ in range(20_000):
        node = Choice((Sequence((A, node)), B))
    assert body(node).count("(") == 19_999


@pytest.mark.parametrize("name", ["llama", "xgrammar"])
def test_the_corpora_print_and_read_back(name: str) -> None:
    for case in cases(name):
        if case["kind"] != "gbnf" or case.get("dialect") == "xgrammar":
            continue
        try:
            made = read(case["source"])
        except GrammarError:
            assert case["compile_error"], case["id"]
            continue
        again, found = parse(SourceText(print_gbnf(made)), Limits())
        assert print_gbnf(again) == print_gbnf(made), case["id"]
        assert not [f for f in found if f.severity is Severity.WARNING and "unreachable" not in f.code], case["id"]
