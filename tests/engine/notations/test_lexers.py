"""Lexers: the tokens of GBNF and JSON, and that the tokens of every text are the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notations import NOTATIONS
from engine.notations.gbnf.lexer import lex_line as lex_gbnf
from engine.notations.gbnf.lexer import tokens as gbnf_tokens
from engine.notations.gbnf.parser import parse as parse_gbnf
from engine.notations.json_schema.lexer import json_tokens
from engine.notations.json_schema.lexer import lex_line as lex_json
from engine.notations.lexing import CachedLexer, TokenKind, lex, partners, runs
from engine.source import GrammarError, Limits, SourceText


def kinds(lex_line, line: str, state: int = 0) -> list[tuple[str, TokenKind]]:
    tokens = lex_line(line, state).tokens
    return [(line[token.start : token.end], token.kind) for token in tokens if token.kind is not TokenKind.SPACE]


def test_a_rule_has_its_name_its_references_and_its_operators():
    assert kinds(lex_gbnf, 'list ::= "- " item{1,3} | <think>? # so') == [
        ("list", TokenKind.NAME),
        ("::=", TokenKind.OPERATOR),
        ('"', TokenKind.LITERAL),
        ("- ", TokenKind.LITERAL),
        ('"', TokenKind.LITERAL),
        ("item", TokenKind.ANCHOR),
        ("{1,3}", TokenKind.QUANTIFIER),
        ("|", TokenKind.OPERATOR),
        ("<think>", TokenKind.ESCAPE),
        ("?", TokenKind.QUANTIFIER),
        ("# so", TokenKind.COMMENT),
    ]


@pytest.mark.parametrize("element", ["<think>", "!<think>", "<[123]>", "!<[123]>"])
def test_a_token_element_is_one_piece(element):
    assert kinds(lex_gbnf, element) == [(element, TokenKind.ESCAPE)]


def test_a_class_keeps_its_escapes_and_a_hash():
    assert kinds(lex_gbnf, r"[^a-z\]#]") == [
        ("[^", TokenKind.CLASS),
        ("a", TokenKind.CLASS),
        ("-", TokenKind.OPERATOR),
        ("z", TokenKind.CLASS),
        (r"\]", TokenKind.ESCAPE),
        ("#", TokenKind.CLASS),
        ("]", TokenKind.CLASS),
    ]


def test_an_open_string_goes_on_in_the_next_line():
    state = lex_gbnf('root ::= "a # b', 0).state
    assert kinds(lex_gbnf, 'c" x', state)[0] == ("c", TokenKind.LITERAL)


def test_keys_values_numbers_and_words_of_json_differ():
    assert kinds(lex_json, r'{"type": "a\n", "x": -1.5e3, "y": true, "z": no}') == [
        ("{", TokenKind.GROUP),
        ('"type"', TokenKind.NAME),
        (":", TokenKind.LITERAL),
        ('"a', TokenKind.CLASS),
        (r"\n", TokenKind.ESCAPE),
        ('"', TokenKind.CLASS),
        (",", TokenKind.LITERAL),
        ('"x"', TokenKind.NAME),
        (":", TokenKind.LITERAL),
        ("-1.5e3", TokenKind.QUANTIFIER),
        (",", TokenKind.LITERAL),
        ('"y"', TokenKind.NAME),
        (":", TokenKind.LITERAL),
        ("true", TokenKind.OPERATOR),
        (",", TokenKind.LITERAL),
        ('"z"', TokenKind.NAME),
        (":", TokenKind.LITERAL),
        ("no", TokenKind.LITERAL),
        ("}", TokenKind.GROUP),
    ]


def test_brackets_in_strings_have_no_partner():
    assert partners('{"a]": ["}"]}', lex_json) == {0: 12, 12: 0, 7: 11, 11: 7}
    assert partners('("(" [(])', lex_gbnf) == {0: 8, 8: 0, 5: 7, 7: 5}


def test_a_cached_lexer_reads_a_line_once_in_each_state_and_forgets_when_it_has_read_much():
    read = []

    def lex_line(line, state):
        read.append((line, state))
        return lex_gbnf(line, state)

    cached = CachedLexer(lex_line)
    lines = [("a ::= b", 0), ("a ::= b", 1), ('"', 0)]
    assert [cached(*one) for one in lines * 2] == [lex_gbnf(*one) for one in lines * 2]
    assert read == lines
    for number in range(60):
        cached(f"{number} " * 1_000, 0)
    read.clear()
    assert cached(*lines[0]) == lex_gbnf(*lines[0])
    assert read == lines[:1]


@pytest.mark.parametrize("lex_line", [lex_gbnf, lex_json])
@given(line=st.text(alphabet='ab1"\\[]{}()<>!#|*,:=- .u\té', max_size=30), state=st.integers(0, 2))
def test_every_character_is_in_one_token(lex_line, line, state):
    at = 0
    for token in lex_line(line, state).tokens:
        assert token.start == at < token.end
        at = token.end
    assert at == len(line)


TEXTS = st.text() | st.lists(
    st.sampled_from(['"', "[", "]", "\\", "(", ")", "(?x)", "#", "\n", "\r", "a ::= ", "{", " ", "é", "-"])
).map("".join)


@pytest.mark.parametrize("notation", NOTATIONS)
@given(text=TEXTS)
def test_the_tokens_joined_are_the_text(notation, text):
    lexer = NOTATIONS[notation].lex_line
    assert "".join(text[token.start : token.end] for token in lex(text, lexer)) == text
    ends = [token.end for token in lex(text, lexer)]
    assert ends == sorted(set(ends)), "no token is empty"
    assert "".join(part for _, part in runs(text, lexer)) == text


GBNF_PARTS = [
    'root ::= "a',
    '\nb ::= "c"',
    "\nroot ::= b",
    '"',
    "[^a-",
    "]",
    "\\",
    "\\x4",
    "\n",
    "\r\n",
    " b",
    "|",
    "(",
    ")",
]
GBNF_PARTS += ["*", "{2,", "{ # x\n2 }", "3}", "!<a", "<[1]>", "# c", "\u00a0"]
GBNF_TEXTS = TEXTS | st.lists(st.sampled_from(GBNF_PARTS)).map("".join)


@pytest.mark.parametrize("ends_at_rules", [True, False])
@given(text=GBNF_TEXTS)
def test_the_tokens_that_the_parser_and_the_editor_read_joined_are_the_text(ends_at_rules, text):
    found = list(gbnf_tokens(text, ends_at_rules=ends_at_rules))
    assert "".join(text[token.start : token.end] for token in found) == text
    assert all(token.start < token.end for token in found)


@given(text=GBNF_TEXTS)
def test_a_text_read_by_lines_defines_the_same_names(text):
    by_lines = [(one.start, one.end) for one in lex(text, lex_gbnf) if one.kind is TokenKind.NAME]
    assert by_lines == [(one.start, one.end) for one in gbnf_tokens(text) if one.kind == "defined"]


@given(text=GBNF_TEXTS)
def test_the_rules_of_the_parser_are_the_defined_names_of_the_lexer(text):
    try:
        grammar, _ = parse_gbnf(SourceText(text), Limits())
    except GrammarError:
        return
    defined = [token.span for token in gbnf_tokens(text, ends_at_rules=False) if token.kind == "defined"]
    last = {text[span.start : span.end]: span for span in defined}
    assert {rule.name: rule.span for rule in grammar.rules} == last


def test_a_quote_that_is_being_typed_ends_at_the_next_rule():
    text = 'root ::= "a b\nb ::= "c"'
    assert [text[one.start : one.end] for one in gbnf_tokens(text) if one.kind == "defined"] == ["root", "b"]
    state = lex_gbnf('root ::= "a b', 0).state
    assert kinds(lex_gbnf, 'b ::= "c"', state)[0] == ("b", TokenKind.NAME)
    exact = [one.kind for one in gbnf_tokens(text, ends_at_rules=False)]
    assert exact == ["defined", "blank", "defines", "blank", "literal", "name", "open_literal"]


def test_a_hyphen_is_a_range_only_between_two_members():
    assert [kind for part, kind in kinds(lex_gbnf, "[-a-]") if part == "-"] == [TokenKind.CLASS, TokenKind.CLASS]
    assert ("-", TokenKind.OPERATOR) in kinds(lex_gbnf, r"[\x41-Z]")


@given(st.text() | st.text(alphabet='{}[]:,"\\ \n\u00a0a1-'))
def test_only_white_space_is_between_json_tokens(text):
    end = 0
    for token in json_tokens(text):
        assert not text[end : token.start()].strip()
        end = token.end()
    assert not text[end:].strip()


def test_an_open_json_string_ends_with_its_line_and_has_a_backslash_at_its_end():
    assert [token.group() for token in json_tokens('{"a\\\n: "b\\')] == ["{", '"a\\', ":", '"b\\']


@given(
    st.lists(st.sampled_from(["{", "}", ":", ", ", '"a"', '"b \\" c"', '"\\\\"', "12", "true"]), max_size=12),
    st.integers(0, 60),
)
def test_a_part_of_a_line_of_json_has_the_tokens_that_it_has_in_the_line(words: list[str], offset: int) -> None:
    line = " ".join(words)
    start = NOTATIONS["json_schema"].resume_at(line, offset)
    assert start is not None
    whole = [(token.start, token.end, token.kind) for token in lex_json(line, 0).tokens]
    rest = [(start + token.start, start + token.end, token.kind) for token in lex_json(line[start:], 0).tokens]
    assert rest[1:] == [token for token in whole if token[0] > start][: len(rest) - 1] or not rest
    assert NOTATIONS["regex"].resume_at(line, offset) is None
