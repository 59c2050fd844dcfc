"""The colours of GBNF and of JSON Schema, and the editor's way between notations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.panes.editor import EditorPane
from app.panes.editor.tokenisers import tokenise_gbnf, tokenise_json
from app.panes.editor.tokens import TokenKind, partners


def kinds(tokenise, line: str, state: int = 0) -> list[tuple[str, TokenKind]]:
    tokens = tokenise(line, state).tokens
    return [(line[token.start : token.end], token.kind) for token in tokens if token.kind is not TokenKind.SPACE]


def test_a_rule_has_its_name_its_references_and_its_operators():
    assert kinds(tokenise_gbnf, 'list ::= "- " item{1,3} | <think>? # so') == [
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
    assert kinds(tokenise_gbnf, element) == [(element, TokenKind.ESCAPE)]


def test_a_class_keeps_its_escapes_and_a_hash():
    assert kinds(tokenise_gbnf, r"[^a-z\]#]") == [
        ("[^", TokenKind.CLASS),
        ("a", TokenKind.CLASS),
        ("-", TokenKind.OPERATOR),
        ("z", TokenKind.CLASS),
        (r"\]", TokenKind.ESCAPE),
        ("#", TokenKind.CLASS),
        ("]", TokenKind.CLASS),
    ]


def test_an_open_string_goes_on_in_the_next_line():
    state = tokenise_gbnf('root ::= "a # b', 0).state
    assert kinds(tokenise_gbnf, 'c" x', state)[0] == ("c", TokenKind.LITERAL)


def test_keys_values_numbers_and_words_of_json_differ():
    assert kinds(tokenise_json, r'{"type": "a\n", "x": -1.5e3, "y": true, "z": no}') == [
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
    assert partners('{"a]": ["}"]}', tokenise_json) == {0: 12, 12: 0, 7: 11, 11: 7}
    assert partners('("(" [(])', tokenise_gbnf) == {0: 8, 8: 0, 5: 7, 7: 5}


@pytest.mark.parametrize("tokenise", [tokenise_gbnf, tokenise_json])
@given(line=st.text(alphabet='ab1"\\[]{}()<>!#|*,:=- .u\té', max_size=30), state=st.integers(0, 2))
def test_every_character_is_in_one_token(tokenise, line, state):
    at = 0
    for token in tokenise(line, state).tokens:
        assert token.start == at < token.end
        at = token.end
    assert at == len(line)


def test_the_pane_names_and_colours_another_notation(qtbot: QtBot):
    pane = EditorPane()
    qtbot.addWidget(pane)
    pane.set_text('root ::= "a"')
    pane.set_notation("gbnf")
    assert pane.notation_label.text() == ui_text("common.notation.gbnf")
    assert "root ::=" in pane.edit.placeholderText()
    formats = pane.edit.document().begin().layout().formats()
    assert len(formats) > 1
