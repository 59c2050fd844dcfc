"""What is said of GBNF text that is wrong, wasteful, or not llama.cpp's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notations.gbnf.parser import parse
from engine.source import Diagnostic, GrammarError, Limits, SourceText, diagnostic


def findings(text: str) -> list[Diagnostic]:
    source = SourceText(text)
    try:
        return list(parse(source, Limits())[1])
    except GrammarError as error:
        return list(error.diagnostics)


@pytest.mark.parametrize(
    ("text", "code", "excerpt"),
    [
        ("", "no-root", ""),
        ("x ::= y\ny ::= x", "no-root", "x"),
        ("root ::= other", "undefined-rule", "other"),
        ('root ::= ("a"', "unclosed-group", "("),
        ('root ::= "a")', "no-group", ")"),
        ('root ::= "abc', "unclosed-literal", '"'),
        ("root ::= [abc", "unclosed-class", "["),
        ("root ::= [z-a]", "bad-range", "z-a"),
        (r'root ::= "\q"', "unknown-escape", r"\q"),
        (r'root ::= "\x4"', "short-escape", r"\x4"),
        (r'root ::= "\U00110000"', "beyond-unicode", r"\U00110000"),
        ("root ::= *", "nothing-to-repeat", "*"),
        ('root ::= "a" | +', "nothing-to-repeat", "+"),
        ('root ::= "a"{', "bad-repetition", "{"),
        ('root ::= "a"{,}', "bad-repetition", "{,}"),
        ('root ::= "a"{3,2}', "bad-repetition", "{3,2}"),
        ('root ::= "a"{999999999999999999999}', "repetition-limit", "{999999999999999999999}"),
        ("root = x", "no-definition", "="),
        ("::= x", "no-rule", ":"),
        ("root ::= %", "unexpected", "%"),
        ("root ::= !x", "bad-token", "!"),
        ("root ::= <[x]>", "bad-token", "<["),
        ("root ::= <think", "bad-token", "<"),
        ('root ::= "a"\nroot ::= "b"', "duplicate-rule", "root"),
        ('root ::= "a"\nother ::= "b"', "unreachable-rule", "other"),
        ("root ::= root", "unproductive-rule", "root"),
        ('root ::= root "a" | "b"', "compat-left-recursion", "root"),
        ('root ::= ws root "a" | "b"\nws ::= " "*', "compat-left-recursion", "root"),
        ('root ::= a_b\na_b ::= "x"', "compat-name", "a_b"),
        ('root ::= "a"{5000}', "compat-repetition", "{5000}"),
        ('root ::= "a"{,5}', "compat-repetition", "{,5}"),
        ('root ::= "a"\n  | "b"', "compat-line", "|"),
    ],
)
def test_a_finding_and_its_place(text: str, code: str, excerpt: str) -> None:
    found = [finding for finding in findings(text) if finding.code == f"gbnf-{code}"]
    assert len(found) == 1, findings(text)
    assert SourceText(text).excerpt(found[0].span) == excerpt
    assert found[0].hint


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a"',
        "root ::=",
        'root ::= "a" |\n  "b" # a comment\n',
        'root ::= (\n "a" # inside\n | "b"\n)*\n\n# the end',
        r'root ::= "\n\r\t\\\"\[\]\x41\u00e9\U0001F600" [^\n\]\-] .',
        "root ::= <think> !<[12]> item{2,3}\nitem ::= [a-z0-9_-]+",
        'root\t::=\r\n"a"\r\nother-1 ::= root\r\n'.replace("other-1 ::= root\r\n", ""),
    ],
)
def test_nothing_to_find(text: str) -> None:
    assert findings(text) == []


def test_every_broken_rule_is_told_of_once_and_its_users_are_not_blamed() -> None:
    text = 'root ::= a b\na ::= *\nb ::= %\nc ::= "fine"'
    assert [finding.code for finding in findings(text)] == ["gbnf-nothing-to-repeat", "gbnf-unexpected"]


def test_a_cycle_is_named_in_full() -> None:
    (found,) = [f for f in findings('root ::= a\na ::= b "x" | "y"\nb ::= a') if f.span.start == 11]
    assert "`a` → `b` → `a`" in found.message


def test_a_near_name_is_suggested() -> None:
    (found,) = findings('root ::= nubmer\nnumber ::= "1"')[:1]
    assert found == diagnostic("gbnf-undefined-rule.similar", found.span, name="nubmer", similar="number")


def test_deep_groups_meet_the_limit_and_long_text_does_not_hang() -> None:
    assert findings("root ::= " + "(" * 5000 + '"a"' + ")" * 5000)[0].code == "gbnf-nesting-limit"
    assert findings("root ::= " + '"abc" ' * 20_000) == []


@given(st.text('root ::=|()[]{}"\\<>!*+?,.-^#\n\r\tabx0129é_', max_size=60))
def test_any_text_is_a_grammar_or_a_list_of_findings(text: str) -> None:
    findings(text)
    findings("root ::= " + text)
