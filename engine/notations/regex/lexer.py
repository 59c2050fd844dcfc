"""The lexer of regular expressions.

It does not feed the parser, unlike that of GBNF: what a token is depends on the dialect (`[]a]` has two members in
`re`, and in ECMAScript `[]` is complete) and on the flags of the groups around it, which only the parser follows
exactly. A test compares its brackets with the parser's groups.

The state that lasts beyond a line: whether a class or a comment is open, whether `(?x)` is in force, and how deep the
group is at whose end it is lifted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.notations.lexing import LineTokens, Token, TokenKind

_IN_CLASS, _IN_COMMENT, _VERBOSE, _DEPTH_SHIFT = 1, 2, 4, 3

_REGEX_ESCAPE = re.compile(
    r"\\(?:x[0-9A-Fa-f]{1,2}|u\{[0-9A-Fa-f]*\}?|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|N\{[^}]*\}?|"
    r"(?P<property>[pP](?:\{[^}]*\}?|\w))|(?P<set>[dDwWsS])|(?P<anchor>[bBAZz])|k<\w*>?|[0-7]{1,3}|.|$)"
)
_COMMENT_GROUP = re.compile(r"\(\?#")
_FLAGS = re.compile(r"\(\?(?P<on>[aiLmsux]*)(?:-(?P<off>[imsx]*))?(?P<end>[:)])")
_NAMED = re.compile(r"\(\?P?<(?P<name>[^\W\d]\w*)>?")
_SPECIAL = re.compile(r"\(\?(?:<[=!]|P?[=>!|:])?")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d*(?:,\d*)?\})[?+]?")
_CLASS_OPEN = re.compile(r"\[\^?\]?")
_POSIX = re.compile(r"\[:\^?\w+:\]")
_SPACES = re.compile(r"\s+")
_LITERALS = re.compile(r"[^\\()\[\]{}|*+?^$.#\s]+")


def lex_line(line: str, state: int) -> LineTokens:
    """Return the tokens of one line of a regular expression."""
    scan = _RegexScan(line, state)
    tokens = tuple(scan.run())
    return LineTokens(tokens, scan.state)


class _RegexScan:
    """A scan of one line."""

    def __init__(self, line: str, state: int) -> None:
        self._line = line
        self._at = 0
        self._in_class = bool(state & _IN_CLASS)
        self._in_comment = bool(state & _IN_COMMENT)
        self._verbose = bool(state & _VERBOSE)
        self._depth = state >> _DEPTH_SHIFT  # nesting inside the group that `(?x:` opened; 0: not in one

    @property
    def state(self) -> int:
        flags = _IN_CLASS * self._in_class | _IN_COMMENT * self._in_comment | _VERBOSE * self._verbose
        return flags | self._depth << _DEPTH_SHIFT

    def run(self) -> Iterator[Token]:
        while self._at < len(self._line):
            if self._in_comment:
                yield self._comment()
            elif self._in_class:
                yield self._class_item()
            else:
                yield self._item()

    def _token(self, end: int, kind: TokenKind, nesting: int = 0) -> Token:
        token = Token(self._at, end, kind, nesting)
        self._at = end
        return token

    def _comment(self) -> Token:
        end = self._line.find(")", self._at)
        self._in_comment = end < 0
        return self._token(len(self._line) if end < 0 else end + 1, TokenKind.COMMENT)

    def _class_item(self) -> Token:
        line, at = self._line, self._at
        if line[at] == "]":
            self._in_class = False
            return self._token(at + 1, TokenKind.CLASS, -1)
        if line[at] == "\\":
            return self._escape()
        posix = _POSIX.match(line, at)
        if posix is not None:
            return self._token(posix.end(), TokenKind.CLASS)
        if line[at] == "-" and 0 < at < len(line) - 1 and line[at + 1] != "]" and line[at - 1] != "[":
            return self._token(at + 1, TokenKind.OPERATOR)
        return self._token(at + 1, TokenKind.CLASS)

    def _item(self) -> Token:
        line, at = self._line, self._at
        char = line[at]
        if char == "\\":
            return self._escape()
        if char == "(":
            return self._group()
        if char == ")":
            self._close()
            return self._token(at + 1, TokenKind.GROUP, -1)
        if char == "[":
            self._in_class = True
            opening = _CLASS_OPEN.match(line, at)
            return self._token(opening.end() if opening else at + 1, TokenKind.CLASS, 1)
        if char == "#" and self._verbose:
            return self._token(len(line), TokenKind.COMMENT)
        return self._simple(char)

    def _simple(self, char: str) -> Token:
        line, at = self._line, self._at
        if char.isspace():
            spaces = _SPACES.match(line, at)
            return self._token(spaces.end() if spaces else at + 1, TokenKind.SPACE)
        quantifier = _QUANTIFIER.match(line, at)
        if quantifier is not None and quantifier.group() != "{}":
            return self._token(quantifier.end(), TokenKind.QUANTIFIER)
        if char == "|":
            return self._token(at + 1, TokenKind.OPERATOR)
        if char in "^$":
            return self._token(at + 1, TokenKind.ANCHOR)
        if char == ".":
            return self._token(at + 1, TokenKind.CLASS)
        literals = _LITERALS.match(line, at)
        return self._token(literals.end() if literals else at + 1, TokenKind.LITERAL)

    def _escape(self) -> Token:
        found = _REGEX_ESCAPE.match(self._line, self._at)
        if found is None:  # the pattern matches any character, so this can only be a line feed
            return self._token(self._at + 1, TokenKind.ESCAPE)
        if found["property"] or found["set"]:
            return self._token(found.end(), TokenKind.CLASS)
        is_anchor = found["anchor"] and not self._in_class
        return self._token(found.end(), TokenKind.ANCHOR if is_anchor else TokenKind.ESCAPE)

    def _group(self) -> Token:
        line, at = self._line, self._at
        comment = _COMMENT_GROUP.match(line, at)
        if comment is not None:
            self._in_comment = True
            return self._comment()
        flags = _FLAGS.match(line, at)
        if flags is not None and flags["end"] == ")":
            self._verbose = ("x" in flags["on"] or self._verbose) and "x" not in (flags["off"] or "")
            return self._token(flags.end(), TokenKind.NAME)
        if self._depth:
            self._depth += 1
        if flags is not None:
            if "x" in flags["on"] and not self._verbose:
                self._verbose, self._depth = True, 1
            return self._token(flags.end(), TokenKind.GROUP, 1)
        named = _NAMED.match(line, at)
        if named is not None:
            return self._token(named.end(), TokenKind.NAME, 1)
        special = _SPECIAL.match(line, at)
        return self._token(special.end() if special else at + 1, TokenKind.GROUP, 1)

    def _close(self) -> None:
        if self._depth:
            self._depth -= 1
            self._verbose = self._verbose and self._depth > 0
