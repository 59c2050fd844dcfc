"""GBNF text as a language: what it matches, and what llama.cpp's own cases say."""

from __future__ import annotations

import pytest
from corpora import cases
from error_keys import raises_key

from engine import GrammarError, Matcher, Vocabulary, compile_grammar
from engine.vocabulary.errors import VocabularyError

ARITHMETIC = """root ::= sum "\\n"
sum  ::= sum ("+" | "-") product | product
product ::= product "*" atom | atom
atom ::= [0-9]+ | "(" sum ")"
"""


@pytest.mark.parametrize(
    ("grammar", "yes", "no"),
    [
        (ARITHMETIC, ["1\n", "1+2*(3-4)\n"], ["1", "1+\n", "(1\n"]),
        ('root ::= "ab"*', ["", "ab", "abab"], ["aba"]),
        ('root ::= "a" "b"*', ["a", "abb"], ["abab"]),
        ('root ::= ("a" | "b"){2,3}', ["ab", "bab"], ["a", "abab"]),
        ('root ::= [^\\n"]+', ["é", "日本"], ['"', "\n", ""]),
        ('root ::= . "\\u00e9"', ["aé", "\né"], ["a", "é"]),
        ('root ::= "(" root ")" | ""', ["", "()", "((()))"], ["(", "(()"]),
        ('root ::= "a" |', ["", "a"], ["b"]),
        ("root ::= [a\\-c]", ["a", "-", "c"], ["b"]),
        ("root ::= [a-]", ["a", "-"], ["b"]),
    ],
)
def test_whole_texts(grammar: str, yes: list[str], no: list[str]) -> None:
    compiled = compile_grammar("gbnf", grammar)
    assert [text for text in yes if not compiled.fullmatch(text)] == []
    assert [text for text in no if compiled.fullmatch(text)] == []


def test_deep_nesting_of_the_text_is_followed_all_the_way() -> None:
    compiled = compile_grammar("gbnf", 'root ::= "[" root "]" | "x"')
    depth = 3000
    assert compiled.fullmatch("[" * depth + "x" + "]" * depth)
    assert not compiled.fullmatch("[" * depth + "x" + "]" * (depth - 1))


def test_a_thousand_rules_that_call_one_another() -> None:
    rules = [f'r{i} ::= "a" r{(i * 7 + 1) % 1000} | r{(i * 3 + 2) % 1000} "b" | "c"' for i in range(1000)]
    compiled = compile_grammar("gbnf", "root ::= r0\n" + "\n".join(rules))
    assert compiled.fullmatch("aac")
    assert compiled.fullmatch("acb")


def test_the_corpus_of_llama_cpp() -> None:
    wrong = []
    for case in cases("llama"):
        if case["kind"] != "gbnf":
            continue
        lawful = {"left-recursion", "llama-limit"} & set(case.get("tags", ()))
        try:
            compiled = compile_grammar("gbnf", case["source"])
        except GrammarError:
            if not case["compile_error"]:
                wrong.append(case["id"])
            continue
        right = all(compiled.fullmatch(s) for s in case["accept"]) and not any(
            compiled.fullmatch(s) for s in case["reject"]
        )
        if not right or (case["compile_error"] and not lawful):
            wrong.append(case["id"])
    assert wrong == []


VOCABULARY = Vocabulary(
    [b"a", b"b", None, None, b"<x>", None], eos_ids=[5], special={2: "<think>", 3: "</think>", 5: "<end>"}
)


def allowed(matcher: Matcher) -> set[int]:
    return {i for i in range(VOCABULARY.size) if matcher.is_allowed(i)}


def mask(matcher: Matcher) -> set[int]:
    words = matcher.bitmask()
    return {i for i in range(VOCABULARY.size) if int(words[i >> 5]) >> (i & 31) & 1}


def test_token_elements() -> None:
    matcher = Matcher(compile_grammar("gbnf", 'root ::= <think> "a"* !<[1]> </think>'), VOCABULARY)
    for token, expected in ((2, {2}), (0, {0, 2, 3, 4}), (0, {0, 2, 3, 4}), (3, {0, 2, 3, 4})):
        assert allowed(matcher) == mask(matcher) == expected
        assert matcher.accept(token)
    # The last token was either the one that is not 1, or the end behind an "a" that was.
    assert allowed(matcher) == mask(matcher) == {3, 5}
    assert matcher.accept(3)
    assert matcher.is_accepting
    assert allowed(matcher) == mask(matcher) == {5}


def test_a_token_that_the_vocabulary_lacks_is_told_of() -> None:
    grammar = compile_grammar("gbnf", "root ::= <no-such>")
    with raises_key(VocabularyError, "errors.vocabulary.no_named_token", name="<no-such>"):
        Matcher(grammar, VOCABULARY)
    with raises_key(VocabularyError, "errors.vocabulary.no_token_id", id=100):
        Matcher(compile_grammar("gbnf", "root ::= <[100]>"), VOCABULARY)
