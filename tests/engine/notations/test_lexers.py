"""Lexers: the tokens of GBNF and JSON, and that the tokens of every text are the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notations import NOTATIONS
from engine.notations.gbnf.lexer import lex_line as lex_gbnf
from engine.notations.json_schema.lexer import lex_line as lex_json
from engine.notations.lexing import TokenKind, lex, partners, runs


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
