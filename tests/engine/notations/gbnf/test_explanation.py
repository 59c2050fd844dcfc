"""GBNF grammars in words: every construct, and words that are read back to what was parsed."""

from __future__ import annotations

import corpora
import pytest
from fuzzing import fuzz, joined, mutated
from hypothesis import given
from hypothesis import strategies as st
from spoken import UnreadableError, read_back, rules_of, same

from engine.notations.gbnf.parser import parse
from engine.source import GrammarError, LimitExceededError, Limits, SourceText
from tests.support.explanations import explain

BEGIN = "Rule `root`, with which every match begins: "
CASES = [
    # the body of the rule `root`, the words of the rule, and what it holds
    ('"yes"', "the text `yes`", []),
    ('"a"', "the text `a`", []),
    ('""', "the empty text", []),
    ("[]", "the empty text", []),
    ("[a-z0-9]", "one of `0` to `9` or `a` to `z`", []),
    ('[^"\\\\]', 'any character except `"` and `\\`', []),
    (".", "any character", []),
    ('"\\x41\\u00e9\\n"', "the text `Aé↵`", []),
    ('"a"*', "any number of times: the text `a`", []),
    ('"ab"+', "once or more: the text `ab`", []),
    ('"ab"?', "optional: the text `ab`", []),
    ('"ab"{2}', "exactly 2 times: the text `ab`", []),
    ('"ab"{2,}', "at least 2 times: the text `ab`", []),
    ('"ab"{2,5}', "2 to 5 times: the text `ab`", []),
    ('"ab"{,5}', "at most 5 times: the text `ab`", []),
    ('"ab"{0}', "not at all: the text `ab`", []),
    ("[a-z]+?", "optional: once or more: one of `a` to `z`", []),
    ("<think>", "the token `<think>`, as a single token", []),
    ("<[123]>", "the token number 123, as a single token", []),
    ("!<think>", "any single token except `<think>`", []),
    ('"a" | "b"', "one of these 2", [(1, "The text `a`", '"a"'), (1, "The text `b`", '"b"')]),
    ('"a" "b"', "in this order", [(1, "The text `a`", '"a"'), (1, "The text `b`", '"b"')]),
    ('("a" | "b")*', "any number of times: one of these 2", [(1, "The text `a`", '"a"'), (1, "The text `b`", '"b"')]),
    ('"x" root?', "in this order", [(1, "The text `x`", '"x"'), (1, "Optional: the rule `root`", "root?")]),
    (
        '("a" "b" | [c])',
        "one of these 2",
        [
            (1, "In this order", '"a" "b"'),
            (2, "The text `a`", '"a"'),
            (2, "The text `b`", '"b"'),
            (1, "The text `c`", "[c]"),
        ],
    ),
    (
        '"\\"x" [a]"y"',
        "in this order",
        [
            (1, 'The text `"x`', '"\\"x"'),
            (1, "The text `a`", "[a]"),
            (1, "The text `y`", '"y"'),
        ],
    ),
]


def told(text: str) -> list[tuple[int, str, str]]:
    found = explain("gbnf", text)
    return [(one.depth, one.text, text[one.span.start : one.span.end]) for one in found.phrases]


@pytest.mark.parametrize(("body", "words", "inner"), CASES)
def test_every_construct(body: str, words: str, inner: list[tuple[int, str, str]]) -> None:
    text = f"root ::= {body}"
    assert told(text) == [(0, BEGIN + words, text), *inner]


def test_rules_come_in_their_order_and_references_lead_to_them() -> None:
    text = "# words\nword ::= [a-z]+\nroot ::= word # more\n"
    found = explain("gbnf", text)
    assert [(one.text, text[one.span.start : one.span.end]) for one in found.phrases] == [
        ("Rule `word`: once or more: one of `a` to `z`", "word ::= [a-z]+"),
        (BEGIN + "the rule `word`", "root ::= word"),
    ]
    target = found.phrases[1].target
    assert target is not None
    assert (target.start, text[target.start : target.end]) == (8, "word")


def test_a_rule_that_matches_nothing_says_so() -> None:
    assert told('root ::= "a" | b\nb ::= "x" b')[-1][1] == "Rule `b`: no text at all"


def is_held(text: str) -> bool:
    """Hold the words against the parser; False where there is nothing to hold."""
    try:
        grammar, _ = parse(SourceText(text), Limits())
        found = explain("gbnf", text)
    except (GrammarError, LimitExceededError):
        return False
    try:
        nodes = read_back(found)
    except UnreadableError:
        return False
    assert [(name, same(node)) for name, node in nodes] == rules_of(grammar)  # type: ignore[misc, str-unpack]
    return True


def test_words_of_the_corpora_mean_the_grammar() -> None:
    texts = [c["source"] for name in ("llama", "xgrammar") for c in corpora.cases(name) if c["kind"] == "gbnf"]
    assert sum(map(is_held, texts)) > len(texts) / 2


WORDS = [
    *'ab1 .|()[]{}*+?-,"\n`é',
    *(
        "root ::= ",
        "\na ::= ",
        "root",
        " a ",
        "\n  | ",
        '"ab"',
        '""',
        r'"\x41"',
        "[a-z]",
        r"[^\n]",
        "[]",
        "{2}",
        "{,3}",
    ),
    *("{2,}", "<think>", "!<[12]>", "# comment\n", "( ", " )", "()", "(a)*", "a* "),
]
REAL = ['root ::= "a" (a | [^`]{2,3})* "z"?\na ::= "`" root | <x> .\n', 'root ::= ("x" "y" | a)+\na ::= [0-9]\n']


@fuzz(150)
@given(st.one_of(joined(WORDS).map(lambda text: f"root ::= {text}"), mutated(REAL, WORDS)))
def test_words_of_any_grammar_mean_it(text: str) -> None:
    if r"\\" not in text:  # in the words, it would begin an escape
        is_held(text)
