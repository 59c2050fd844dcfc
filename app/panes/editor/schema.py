"""Highlighting of a JSON Schema, or of any JSON text: keys, strings, numbers, words.

No state lasts beyond a line, since a JSON string cannot contain a line end. A string is a key if a colon follows it on
its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.panes.editor.tokens import LineTokens, Token, TokenKind

_PARTS = re.compile(
    r"(?P<space>\s+)|(?P<string>\"(?:[^\"\\]|\\.)*(?:\"|\\?$))|(?P<number>-?\d[\d.eE+-]*)|(?P<word>[A-Za-z]+)|"
    r"(?P<open>[\[{])|(?P<close>[\]}])|(?P<mark>[,:])|(?P<other>.)"
)
_COLON = re.compile(r"\s*:")
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,4}|.|$)")
_KINDS = {
    "space": TokenKind.SPACE,
    "number": TokenKind.QUANTIFIER,
    "word": TokenKind.OPERATOR,
    "open": TokenKind.GROUP,
    "close": TokenKind.GROUP,
    "mark": TokenKind.LITERAL,
    "other": TokenKind.LITERAL,
}
_WORDS = {"true", "false", "null"}
_NESTING = {"open": 1, "close": -1}


def tokenise_json(line: str, _state: int) -> LineTokens:
    """Return the tokens of one line of JSON."""
    return LineTokens(tuple(_tokens(line)), 0)


def _tokens(line: str) -> Iterator[Token]:
    for found in _PARTS.finditer(line):
        group = found.lastgroup or "other"
        if group == "string":
            is_key = _COLON.match(line, found.end()) is not None
            yield from _string(line, *found.span(), TokenKind.NAME if is_key else TokenKind.CLASS)
        elif group == "word" and found.group() not in _WORDS:
            yield Token(*found.span(), TokenKind.LITERAL)
        else:
            yield Token(*found.span(), _KINDS[group], _NESTING.get(group, 0))


def _string(line: str, start: int, end: int, kind: TokenKind) -> Iterator[Token]:
    for escape in _ESCAPE.finditer(line, start, end):
        if start < escape.start():
            yield Token(start, escape.start(), kind)
        yield Token(*escape.span(), TokenKind.ESCAPE)
        start = escape.end()
    if start < end:
        yield Token(start, end, kind)
