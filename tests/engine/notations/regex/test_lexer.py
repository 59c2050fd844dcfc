"""Colours of regular expressions; a lexer must cover what it is given and never fail."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.notations.lexing import partners, plain_line
from engine.notations.regex.lexer import lex_line
from engine.notations.regex.parser import parse_with_details
from engine.source import GrammarError, Limits, SourceText

PIECES = [
    "(",
    ")",
    "[",
    "]",
    "[^",
    "\\",
    "\\d",
    "\\x41",
    "\\p{L}",
    "(?x)",
    "(?x:",
    "(?#",
    "#",
    "*",
    "{2,3}",
    "a",
    " ",
    "|",
    "é😀",
]


def kinds(line: str, state: int = 0) -> list[tuple[str, str]]:
    return [(line[token.start : token.end], token.kind.value) for token in lex_line(line, state).tokens]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("ab+", [("ab", "literal"), ("+", "quantifier")]),
        ("a{2,}?", [("a", "literal"), ("{2,}?", "quantifier")]),
        ("a{b", [("a", "literal"), ("{", "literal"), ("b", "literal")]),
        (r"\d\x41\bé", [(r"\d", "class"), (r"\x41", "escape"), (r"\b", "anchor"), ("é", "literal")]),
        (r"\p{Lu}\u{1F600}", [(r"\p{Lu}", "class"), (r"\u{1F600}", "escape")]),
        ("[]a-z]", [("[]", "class"), ("a", "class"), ("-", "operator"), ("z", "class"), ("]", "class")]),
        ("[-a]", [("[", "class"), ("-", "class"), ("a", "class"), ("]", "class")]),
        (r"[\b\]]", [("[", "class"), (r"\b", "escape"), (r"\]", "escape"), ("]", "class")]),
        ("(?P<n>a)", [("(?P<n>", "name"), ("a", "literal"), (")", "group")]),
        ("(?<!a)|(?:b)", [("(?<!", "group"), ("a", "literal"), (")", "group"), ("|", "operator"), ("(?:", "group")]),
        ("(?#x)y", [("(?#x)", "comment"), ("y", "literal")]),
        ("^a $", [("^", "anchor"), ("a", "literal"), (" ", "space"), ("$", "anchor")]),
        ("a #b", [("a", "literal"), (" ", "space"), ("#", "literal"), ("b", "literal")]),
        ("(?x) a #b", [("(?x)", "name"), (" ", "space"), ("a", "literal"), (" ", "space"), ("#b", "comment")]),
        ("(?x:a)#", [("(?x:", "group"), ("a", "literal"), (")", "group"), ("#", "literal")]),
        ("\\", [("\\", "escape")]),
    ],
)
def test_the_colours_of_a_pattern(pattern: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(pattern)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("(?x)", "a # b", ("# b", "comment")),
        ("(?x: (a)", "# b", ("# b", "comment")),
        ("(?x: a)", "# b", ("b", "literal")),
        ("(?# open", "shut) a", ("a", "literal")),
        ("[a", "(b]", ("]", "class")),
    ],
)
def test_what_one_line_leaves_to_the_next(first: str, second: str, expected: tuple[str, str]) -> None:
    state = lex_line(first, 0).state
    assert kinds(second, state)[-1] == expected


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.integers(0, 63))
def test_tokens_cover_any_line_without_a_gap(line: str, state: int) -> None:
    result = lex_line(line, state)
    ends = [0, *(token.end for token in result.tokens)]
    assert [token.start for token in result.tokens] == ends[:-1]
    assert ends[-1] == len(line)
    assert result.state >= 0


def test_brackets_find_their_partners_over_lines_and_past_escapes() -> None:
    text = "(a\\)[(]\n(b))"
    pairs = partners(text, lex_line)
    assert pairs == {0: 11, 11: 0, 4: 6, 6: 4, 8: 10, 10: 8}


def test_a_bracket_without_a_partner_has_none() -> None:
    assert partners("a)(", lex_line) == {}
    assert partners("()", plain_line) == {}


REGEX_PARTS = [
    "(",
    "(?:",
    "(?P<n>",
    "(?=",
    "(?i:",
    "(?x: ",
    ")",
    "[",
    "[^",
    "]",
    "a-z",
    "\\]",
    "\\(",
    "\\d",
    "|",
    "*",
    "{2}",
]
REGEX_PARTS += ["#", " ", "\n", "(?# b)", "a"]


@given(st.lists(st.sampled_from(REGEX_PARTS)).map("".join))
@example("(?x: # )\n )")
@example("([)(]|[]()])")
@example(r"((?P<n>\()(?:\[))")
def test_a_group_of_the_parser_is_a_pair_of_brackets_of_the_lexer(pattern):
    try:
        _, details = parse_with_details(SourceText(pattern), "python", Limits())
    except GrammarError:
        return
    pairs = partners(pattern, lex_line)
    assert all(pairs.get(group.span.start) == group.span.end - 1 for group in details.groups)
