"""Groups and repetitions written out as rules, as llama.cpp's parser does: the same language."""

from __future__ import annotations

from itertools import product

import pytest
from corpora import cases
from grammar_language import grammars, language
from hypothesis import HealthCheck, given, settings
from language import ALPHABET

from engine.compile import compile_grammar
from engine.grammar import Choice, Grammar, Repeat, Sequence
from engine.grammar.nodes import parts
from engine.notations.gbnf.parser import parse
from engine.notations.gbnf.plain_rules import PlainRule, grammar_of, plain_rules, text_of
from engine.source import GrammarError, LimitExceededError, Limits, Severity, SourceText

TEXTS = ["".join(chars) for length in range(5) for chars in product(ALPHABET, repeat=length)]


def read(text: str) -> Grammar:
    return parse(SourceText(text), Limits())[0]


def plain(text: str) -> str:
    return text_of(plain_rules(read(text)), "root")


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(grammars())
def test_the_language_stays_as_data_and_as_text(made: Grammar) -> None:
    rules = plain_rules(made)
    wanted = language(made, TEXTS)
    assert language(grammar_of(rules, made.start), TEXTS) == wanted
    assert language(read(text_of(rules, made.start)), TEXTS) == wanted


@pytest.mark.parametrize("name", ["llama", "xgrammar"])
def test_the_grammars_of_the_corpora(name: str) -> None:
    wrong = []
    for case in cases(name):
        if case["kind"] != "gbnf" or case.get("dialect") == "xgrammar":
            continue
        try:
            written = compile_grammar("gbnf", case["source"])
        except GrammarError:
            continue
        assert written.grammar is not None
        again = compile_grammar("gbnf", text_of(plain_rules(written.grammar), written.grammar.start))
        texts = (*case["accept"], *case["reject"])
        wrong += [(case["id"], text) for text in texts if again.fullmatch(text) != written.fullmatch(text)]
    assert wrong == []


@given(grammars())
def test_nothing_is_nested_and_no_name_comes_twice(made: Grammar) -> None:
    rules = plain_rules(made)
    assert len({rule.name for rule in rules}) == len(rules)
    for rule in grammar_of(rules, made.start).rules:
        alternatives = rule.node.alternatives if isinstance(rule.node, Choice) else (rule.node,)
        for alternative in alternatives:
            inner = alternative.items if isinstance(alternative, Sequence) else (alternative,)
            assert not any(isinstance(part, Repeat | Choice | Sequence) for item in inner for part in parts(item))


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ('"ab"*', 'root ::= root-1\nroot-1 ::= "ab" root-1 | ""\n'),
        ('"ab"+', 'root ::= "ab" root-1\nroot-1 ::= "ab" root-1 | ""\n'),
        ('"a"?', 'root ::= root-1\nroot-1 ::= "a" | ""\n'),
        ('"a"{2}', 'root ::= "aa"\n'),
        ('"a"{2,}', 'root ::= "aa" root-1\nroot-1 ::= "a" root-1 | ""\n'),
        ('"a"{1,3}', 'root ::= "a" root-2\nroot-1 ::= "a" | ""\nroot-2 ::= "a" root-1 | ""\n'),
        ('"a"{0}', 'root ::= ""\n'),
        ('("a" | "b") "c"', 'root ::= root-1 "c"\nroot-1 ::= "a" | "b"\n'),
        ("[a-z_]?*", 'root ::= root-2\nroot-1 ::= [_a-z] | ""\nroot-2 ::= root-1 root-2 | ""\n'),
        ('"" | "a"', 'root ::= "" | "a"\n'),
        ("<think>* !<[3]>", 'root ::= root-1 !<[3]>\nroot-1 ::= <think> root-1 | ""\n'),
    ],
)
def test_each_quantifier_as_llama_cpp_writes_it_out(body: str, rules: str) -> None:
    assert plain(f"root ::= {body}") == rules


def test_a_generated_name_avoids_those_that_are_there() -> None:
    text = plain('root ::= ("a" | root-1)+ root-2\nroot-1 ::= "b"\nroot-2 ::= "c"')
    assert text.splitlines()[:3] == [
        "root ::= root-3 root-4 root-2",
        'root-3 ::= "a" | root-1',
        'root-4 ::= root-3 root-4 | ""',
    ]


def test_the_text_is_what_llama_cpp_itself_reads() -> None:
    text = 'root ::= digit_rep{2,4} ("a" x)* [^"\\\\]?\ndigit_rep ::= [0-9]+\nx ::= ("b" | "c"){1,2}'
    _, findings = parse(SourceText(plain(text)), Limits())
    assert [finding for finding in findings if finding.severity is not Severity.HINT] == []
    assert "gbnf-compat-name" not in {finding.code for finding in findings}


def elements(text: str) -> dict[str, list[tuple[str, int | str | None]]]:
    return {rule.name: [(e.type.value, e.value) for e in rule.elements] for rule in plain_rules(read(text))}


def test_elements_are_those_of_llama_cpp() -> None:
    assert elements('root ::= [a-cx] x | [^"] . | <t> !<[5]>\nx ::= "z"*') == {
        "root": [
            ("CHAR", ord("a")),
            ("CHAR_RNG_UPPER", ord("c")),
            ("CHAR_ALT", ord("x")),
            ("RULE_REF", "x"),
            ("ALT", None),
            ("CHAR_NOT", ord('"')),
            ("CHAR_ANY", None),
            ("ALT", None),
            ("TOKEN", "<t>"),
            ("TOKEN_NOT", 5),
            ("END", None),
        ],
        "x": [("RULE_REF", "x-1"), ("END", None)],
        "x-1": [("CHAR", ord("z")), ("RULE_REF", "x-1"), ("ALT", None), ("END", None)],
    }


def test_what_matches_nothing_is_a_range_that_runs_backwards() -> None:
    assert elements("root ::= [z-a] | x\nx ::= x")["x"] == [("CHAR", 98), ("CHAR_RNG_UPPER", 97), ("END", None)]


def test_rules_and_elements_know_their_places() -> None:
    source = 'root ::= "a" (x | "b")+\nx ::= "c"'
    found: dict[str, PlainRule] = {rule.name: rule for rule in plain_rules(read(source))}

    def said(name: str) -> tuple[str, str, list[str]]:
        rule = found[name]
        spans = [element.span for element in rule.elements[:-1]]
        return rule.origin, source[rule.span.start : rule.span.end], [source[s.start : s.end] for s in spans]

    assert said("root") == ("root", "root", ["a", '(x | "b")', '(x | "b")+'])
    assert said("root-1") == ("root", '(x | "b")', ["x", '(x | "b")', "b"])
    assert said("root-2")[1] == '(x | "b")+'
    assert [rule.name != rule.origin for rule in found.values()] == [False, True, True, False]


def test_counts_that_grow_without_measure_are_refused() -> None:
    with pytest.raises(LimitExceededError):
        plain_rules(read('root ::= "a"{90000} "b"{90000} "c"{90000}'))
