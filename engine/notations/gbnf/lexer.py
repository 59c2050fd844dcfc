"""The lexer of GBNF.

The state that lasts beyond a line: whether a string or a class is open, since both may contain line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.notations.lexing import LineTokens, Token, TokenKind

_CODE, _IN_STRING, _IN_CHARACTERS = 0, 1, 2

_GBNF_PARTS = re.compile(
    r"(?P<comment>\#.*)|(?P<space>\s+)|(?P<define>::=)|(?P<name>[A-Za-z0-9_-]+)|(?P<token>!?<\[\d*\]?>?|!?<[^<>\s]*>?)|"
    r"(?P<quantifier>[*+?]|\{\s*\d*\s*(?:,\s*\d*\s*)?\}?)|(?P<operator>\|)|(?P<any>\.)|(?P<open>\()|(?P<close>\))|"
    r"(?P<string>\")|(?P<class>\[\^?)|(?P<other>.)"
)
_DEFINES = re.compile(r"\s*::=")
_GBNF_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{0,2}|u[0-9A-Fa-f]{0,4}|U[0-9A-Fa-f]{0,8}|.|$)")
_IN_LITERAL = re.compile(r"[^\\\"]+")
_GBNF_KINDS = {
    "comment": TokenKind.COMMENT,
    "space": TokenKind.SPACE,
    "define": TokenKind.OPERATOR,
    "token": TokenKind.ESCAPE,
    "quantifier": TokenKind.QUANTIFIER,
    "operator": TokenKind.OPERATOR,
    "any": TokenKind.CLASS,
    "open": TokenKind.GROUP,
    "close": TokenKind.GROUP,
    "string": TokenKind.LITERAL,
    "class": TokenKind.CLASS,
    "other": TokenKind.LITERAL,
}
_GBNF_NESTING = {"open": 1, "close": -1, "class": 1}


def lex_line(line: str, state: int) -> LineTokens:
    """Return the tokens of one line of a GBNF grammar."""
    scan = _GbnfScan(line, state)
    tokens = tuple(scan.run())
    return LineTokens(tokens, scan.state)


class _GbnfScan:
    """The lexer of one line."""

    def __init__(self, line: str, state: int) -> None:
        self._line = line
        self._position = 0
        self.state = state

    def run(self) -> Iterator[Token]:
        while self._position < len(self._line):
            if self.state == _IN_STRING:
                yield self._in_string()
            elif self.state == _IN_CHARACTERS:
                yield self._in_class()
            else:
                yield self._part()

    def _token(self, end: int, kind: TokenKind, nesting: int = 0) -> Token:
        token = Token(self._position, end, kind, nesting)
        self._position = end
        return token

    def _part(self) -> Token:
        found = _GBNF_PARTS.match(self._line, self._position)
        group = found.lastgroup if found else None
        if found is None or group is None:
            return self._token(self._position + 1, TokenKind.LITERAL)
        if group == "name":
            is_defined = _DEFINES.match(self._line, found.end()) is not None
            return self._token(found.end(), TokenKind.NAME if is_defined else TokenKind.ANCHOR)
        if group in {"string", "class"}:
            self.state = _IN_STRING if group == "string" else _IN_CHARACTERS
        return self._token(found.end(), _GBNF_KINDS[group], _GBNF_NESTING.get(group, 0))

    def _in_string(self) -> Token:
        char = self._line[self._position]
        if char == "\\":
            return self._escape()
        if char == '"':
            self.state = _CODE
            return self._token(self._position + 1, TokenKind.LITERAL)
        found = _IN_LITERAL.match(self._line, self._position)
        return self._token(found.end() if found else self._position + 1, TokenKind.LITERAL)

    def _in_class(self) -> Token:
        char = self._line[self._position]
        if char == "\\":
            return self._escape()
        if char == "]":
            self.state = _CODE
            return self._token(self._position + 1, TokenKind.CLASS, -1)
        is_range = char == "-" and 0 < self._position < len(self._line) - 1 and self._line[self._position + 1] != "]"
        return self._token(self._position + 1, TokenKind.OPERATOR if is_range else TokenKind.CLASS)

    def _escape(self) -> Token:
        found = _GBNF_ESCAPE.match(self._line, self._position)
        return self._token(found.end() if found else self._position + 1, TokenKind.ESCAPE)
