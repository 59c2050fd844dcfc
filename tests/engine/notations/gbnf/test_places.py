"""Every node knows its place in the text, and mistakes are read over."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.grammar import Chars, Empty, Never, Node, TokenSet
from engine.grammar.nodes import children, parts
from engine.notations.gbnf.parser import parse
from engine.source import GrammarError, Limits, Severity, SourceText, diagnostic

TEXT = r"""# a comment
root ::= "ab" ( item{2, 3} | [^a-z\]] )* <think> !<[7]> # another
item  ::= ("x")+ | . "\u00e9" |
  () | (
    "y" "z"?
  )
"""


def codes(text: str, limits: Limits | None = None) -> list[str]:
    try:
        return [finding.code.removeprefix("gbnf-") for finding in parse(SourceText(text), limits or Limits())[1]]
    except GrammarError as error:
        return [finding.code.removeprefix("gbnf-") for finding in error.diagnostics]


def test_places_are_exact() -> None:
    source = SourceText(TEXT)
    grammar, found = parse(source, Limits())
    assert found == ()
    shown = [[(type(part).__name__, source.excerpt(part.span)) for part in parts(rule.node)] for rule in grammar.rules]
    assert [source.excerpt(rule.span) for rule in grammar.rules] == ["root", "item"]
    assert shown[0][0] == ("Sequence", '"ab" ( item{2, 3} | [^a-z\\]] )* <think> !<[7]>')
    assert set(shown[0][1:]) == {
        ("Sequence", '"ab"'),
        ("Chars", "a"),
        ("Chars", "b"),
        ("Repeat", r"( item{2, 3} | [^a-z\]] )*"),
        ("Choice", r"( item{2, 3} | [^a-z\]] )"),
        ("Repeat", "item{2, 3}"),
        ("RuleReference", "item"),
        ("Chars", r"[^a-z\]]"),
        ("TokenSet", "<think>"),
        ("TokenSet", "!<[7]>"),
    }
    assert shown[1][0] == ("Choice", TEXT[TEXT.index('("x")') :].rstrip())
    assert set(shown[1][1:]) == {
        ("Repeat", '("x")+'),
        ("Chars", "x"),
        ("Sequence", r'. "\u00e9"'),
        ("Chars", "."),
        ("Chars", r"\u00e9"),
        ("Empty", "()"),
        ("Sequence", '(\n    "y" "z"?\n  )'),
        ("Chars", "y"),
        ("Repeat", '"z"?'),
        ("Chars", "z"),
    }


def test_places_nest_and_follow_one_another() -> None:
    for rule in parse(SourceText(TEXT), Limits())[0].rules:
        for part in parts(rule.node):
            spans = [child.span for child in children(part)]
            assert all(part.span.start <= span.start and span.end <= part.span.end for span in spans)
            assert all(before.end <= after.start for before, after in pairwise(spans))


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("root ::=", Empty),
        ('root ::= ""', Empty),
        ("root ::= []", Empty),
        ("root ::= [^]", Empty),
        ("root ::= [b-a]", Never),
        (r"root ::= [\uD800]", Never),
        ("root ::= [^b-a]", Chars),
        ("root ::= <[5]>", TokenSet),
        ("root ::= root", Never),
    ],
)
def test_the_odd_ones(text: str, node: type[Node]) -> None:
    assert isinstance(parse(SourceText(text), Limits())[0].rules[0].node, node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('root ::= ("a" b\nb ::= "c', ["unclosed-group", "unclosed-literal"]),
        ('root ::= a |\na ::= "c"', ["rule-inside"]),
        (
            'root ::= a b\na ::= "\\q\\x4" [\\j-z]\nb ::= none',
            ["unknown-escape", "short-escape", "unknown-escape", "undefined-rule"],
        ),
        ('root ::= a b\na ::= "x\nb ::= "y"', ["unclosed-literal"]),
        ("root ::= a b\na ::= [x\nb ::= [y]", ["undefined-rule", "line-inside"]),
        ("root ::= a b\na ::= [x\nb ::= [y] ]", ["unclosed-class", "unexpected"]),
        ('root ::= "a\nb"', ["line-inside"]),
        ('Root ::= "a"', ["no-root"]),
        ("root ::= []", ["empty-class"]),
        (r"root ::= [\uD800] | x" + '\nx ::= "x"', ["lone-surrogate"]),
        ('root ::= <[99999999999]> "a"', ["bad-token"]),
        ('root ::= ("a"{1000}){1000}', ["repetition-limit"]),
    ],
)
def test_mistakes_are_read_over(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('root ::= "a"{1999}', []),
        ('root ::= "a"{2000}', ["compat-repetition"]),
        ('root ::= "a"{0,2001}', ["compat-repetition"]),
        ('root ::= ("a"? "b"){999}', []),
        ('root ::= ("a"? "b"){1000}', ["compat-repetition"]),
        ('root ::= "a"{3}{4}', []),
        ('root ::= ""*', ["compat-repetition"]),
        ('root ::= ("a" | )*', ["compat-empty-loop"]),
        ('root ::= ("a"?)*', []),
        ('root ::= "a"?*', ["compat-empty-loop"]),
        ('root ::= x+\nx ::= "a" |', ["compat-empty-loop"]),
        ('root ::= a_b c_d\na_b ::= "x"\nc_d ::= "y"', ["compat-name"]),
    ],
)
def test_where_llama_cpp_would_refuse(text: str, expected: list[str]) -> None:
    grammar, found = parse(SourceText(text), Limits())
    assert [finding.code.removeprefix("gbnf-") for finding in found] == expected
    assert {finding.severity for finding in found} <= {Severity.HINT}
    assert grammar.start == "root"


def test_the_last_definition_counts() -> None:
    source = SourceText('root ::= "a"\nroot ::= "b"')
    grammar, (found,) = parse(source, Limits())
    assert [source.excerpt(rule.node.span) for rule in grammar.rules] == ["b"]
    assert found.span.start == 0
    assert found == diagnostic("gbnf-duplicate-rule", found.span, name="root", line=2)


def test_findings_are_bounded_and_errors_come_first() -> None:
    found = codes("root ::= r0\n" + "".join(f'r{i} ::= "a"\n' for i in range(500)))
    assert len(found) == 100
    found = codes("root ::= r0 none\n" + "".join(f'r{i} ::= "a"?*\n' for i in range(500)))
    assert found.count("undefined-rule") == 1


def test_depth_is_bounded_by_the_limit_alone() -> None:
    deep = "root ::= " + "(" * 1000 + '"a"' + ")*" * 1000
    assert codes(deep, Limits(nesting=1000)) == []
    assert codes(deep, Limits(nesting=999)) == ["nesting-limit"]
    assert codes('root ::= "a"' + "?" * 100_000) == ["nesting-limit"]


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a"\n' + "#" * 500_000,
        "root ::= r1\n" + "".join(f"r{i} ::= r{i + 1}\n" for i in range(1, 20_000)) + "r20000 ::= r1",
        'x ::= "\\"\n' * 50_000,
        "root ::= " + "(a ::= \n" * 50_000,
        'root ::= "' + "a" * 200_000 + '"',
    ],
)
def test_long_texts_end(text: str) -> None:
    assert len(codes(text)) <= 100
