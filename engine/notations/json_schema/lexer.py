"""The lexer of JSON: the tokens that the outline, the parser with spans and the colours of the editor read.

A string ends with its line, since JSON strings contain no line ends: so a missing quote has no effect beyond its line,
and each line can be lexed alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engine.notations.lexing import LineTokens, Token, TokenKind

_TOKEN: Final = re.compile(
    r"(?P<mark>[{}\[\],:])|(?P<string>\"[^\"\\\n]*+(?:\\[^\n][^\"\\\n]*+)*+[\"\\]?)|(?P<word>[^\s\"{}\[\],:]+)"
)
_WORD_PARTS: Final = re.compile(r"(?P<number>-?\d[\d.eE+-]*)|(?P<name>[A-Za-z]+)|(?P<other>.)")
_COLON: Final = re.compile(r"\s*:")
_ESCAPE: Final = re.compile(r"\\(?:u[0-9A-Fa-f]{0,4}|.|$)")
_ESCAPED: Final = re.compile(r"\\.")
_NAMES: Final = {"true", "false", "null"}
_NESTING: Final = {"{": 1, "[": 1, "}": -1, "]": -1}


def json_tokens(text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Yield the tokens of any text, valid or not, from an offset; between them is white space alone.

    Returns:
        A match for each token, whose `lastgroup` is its kind: `mark` (a bracket, comma or colon), `string` (from its
        quote to the closing one, or to the line's end), or `word` (a number, a name, or what is neither).
    """
    return _TOKEN.finditer(text, start)


def is_closed(string: str) -> bool:
    """Return whether a string token has its closing quote."""
    return len(string) > 1 and string[-1] == '"' and (len(string) - 1 - len(string[:-1].rstrip("\\"))) % 2 == 0


def start_of_string(line: str, offset: int) -> int:
    """Return the beginning of the string around an offset of a line, or the offset if it is in none.

    It reads no tokens, which would take 0.2 s for 300 KB: a quote that is not escaped begins a string or ends one.
    """
    before = line[:offset]
    quotes = _ESCAPED.sub("  ", before) if "\\" in before else before
    return quotes.rindex('"') if quotes.count('"') % 2 else offset


def lex_line(line: str, _state: int) -> LineTokens:
    """Return the coloured tokens of one line of JSON; a string is a key if a colon follows it on its line."""
    return LineTokens(tuple(_coloured(line)), 0)


def _coloured(line: str) -> Iterator[Token]:
    read = 0
    for found in json_tokens(line):
        start, end = found.span()
        if read < start:
            yield Token(read, start, TokenKind.SPACE)
        read = end
        if found.lastgroup == "string":
            is_key = _COLON.match(line, end) is not None
            yield from _coloured_string(line, start, end, TokenKind.NAME if is_key else TokenKind.CLASS)
        elif found.lastgroup == "word":
            yield from _coloured_word(line, start, end)
        else:
            nesting = _NESTING.get(found.group(), 0)
            yield Token(start, end, TokenKind.GROUP if nesting else TokenKind.LITERAL, nesting)
    if read < len(line):
        yield Token(read, len(line), TokenKind.SPACE)


def _coloured_word(line: str, start: int, end: int) -> Iterator[Token]:
    for part in _WORD_PARTS.finditer(line, start, end):
        if part.lastgroup == "number":
            yield Token(*part.span(), TokenKind.QUANTIFIER)
        else:
            yield Token(*part.span(), TokenKind.OPERATOR if part.group() in _NAMES else TokenKind.LITERAL)


def _coloured_string(line: str, start: int, end: int, kind: TokenKind) -> Iterator[Token]:
    for escape in _ESCAPE.finditer(line, start, end):
        if start < escape.start():
            yield Token(start, escape.start(), kind)
        yield Token(*escape.span(), TokenKind.ESCAPE)
        start = escape.end()
    if start < end:
        yield Token(start, end, kind)
