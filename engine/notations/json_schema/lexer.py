"""The lexer of JSON.

No state lasts beyond a line, since a string cannot contain a line end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.notations.lexing import LineTokens, Token, TokenKind

_JSON_PARTS = re.compile(
    r"(?P<space>\s+)|(?P<string>\"(?:[^\"\\]|\\.)*(?:\"|\\?$))|(?P<number>-?\d[\d.eE+-]*)|(?P<word>[A-Za-z]+)|"
    r"(?P<open>[\[{])|(?P<close>[\]}])|(?P<mark>[,:])|(?P<other>.)"
)
_COLON = re.compile(r"\s*:")
_JSON_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,4}|.|$)")
_JSON_KINDS = {
    "space": TokenKind.SPACE,
    "number": TokenKind.QUANTIFIER,
    "word": TokenKind.OPERATOR,
    "open": TokenKind.GROUP,
    "close": TokenKind.GROUP,
    "mark": TokenKind.LITERAL,
    "other": TokenKind.LITERAL,
}
_JSON_WORDS = {"true", "false", "null"}
_JSON_NESTING = {"open": 1, "close": -1}


def lex_line(line: str, _state: int) -> LineTokens:
    """Return the tokens of one line of JSON; a string is a key if a colon follows it on its line."""
    return LineTokens(tuple(_json_tokens(line)), 0)


def _json_tokens(line: str) -> Iterator[Token]:
    for found in _JSON_PARTS.finditer(line):
        group = found.lastgroup or "other"
        if group == "string":
            is_key = _COLON.match(line, found.end()) is not None
            yield from _json_string(line, *found.span(), TokenKind.NAME if is_key else TokenKind.CLASS)
        elif group == "word" and found.group() not in _JSON_WORDS:
            yield Token(*found.span(), TokenKind.LITERAL)
        else:
            yield Token(*found.span(), _JSON_KINDS[group], _JSON_NESTING.get(group, 0))


def _json_string(line: str, start: int, end: int, kind: TokenKind) -> Iterator[Token]:
    for escape in _JSON_ESCAPE.finditer(line, start, end):
        if start < escape.start():
            yield Token(start, escape.start(), kind)
        yield Token(*escape.span(), TokenKind.ESCAPE)
        start = escape.end()
    if start < end:
        yield Token(start, end, kind)
