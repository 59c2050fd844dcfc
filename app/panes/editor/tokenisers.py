"""The tokenisers of the notations, which the highlighter calls line by line.

Each is one scan from left to right. The state that lasts beyond a line: of a regex, whether a class or a comment is
open, whether `(?x)` is in force, and how deep the group is at whose end it is lifted; of GBNF, whether a string or a
class is open, since both may contain line ends; of JSON nothing, since a string cannot contain a line end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.panes.editor.tokens import LineTokens, Token, Tokeniser, TokenKind

# --- regular expressions ---------------------------------------------------------------------------------------------

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


def tokenise_regex(line: str, state: int) -> LineTokens:
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


# --- GBNF ------------------------------------------------------------------------------------------------------------

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


def tokenise_gbnf(line: str, state: int) -> LineTokens:
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


# --- JSON ------------------------------------------------------------------------------------------------------------

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


def tokenise_json(line: str, _state: int) -> LineTokens:
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


TOKENISERS: Final[Mapping[str, Tokeniser]] = {
    "regex": tokenise_regex,
    "gbnf": tokenise_gbnf,
    "json_schema": tokenise_json,
}
