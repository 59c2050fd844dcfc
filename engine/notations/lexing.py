"""Tokens of grammar texts: the kinds of tokens, and the state carried from one line to the next.

A lexer takes every text, valid or not, and never fails: the tokens of a text, joined, are the text. It reads line by
line, so that an editor reads again only the lines after a change. Parsers report errors; colours only help to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final, Protocol

_MOST_KEPT: Final = 100_000  # code points, with a token for every third: 3 MB


class TokenKind(StrEnum):
    """The kind of a token."""

    LITERAL = "literal"
    CLASS = "class"  # a set of characters, in any syntax
    ESCAPE = "escape"
    QUANTIFIER = "quantifier"
    GROUP = "group"
    OPERATOR = "operator"
    ANCHOR = "anchor"
    NAME = "name"
    COMMENT = "comment"
    SPACE = "space"


@dataclass(frozen=True, slots=True)
class Token:
    """A range of code points.

    Attributes:
        start, end: its offsets, in a line or in a text.
        kind: its kind.
        nesting: 1 for an opening bracket, -1 for a closing one, else 0.
    """

    start: int
    end: int
    kind: TokenKind
    nesting: int = 0


@dataclass(frozen=True, slots=True)
class LineTokens:
    """The tokens of a line, in order and without gaps, and the state in which the next line begins."""

    tokens: tuple[Token, ...]
    state: int


class LineLexer(Protocol):
    """The lexer of a notation."""

    def __call__(self, line: str, state: int, /) -> LineTokens:
        """Return the tokens of a line that begins in a state; the first line of a text begins in state 0."""
        ...


def plain_line(line: str, state: int) -> LineTokens:
    """Return one token, the line: the lexer of a notation without any."""
    return LineTokens((Token(0, len(line), TokenKind.LITERAL),) if line else (), state)


def lex(text: str, lexer: LineLexer) -> Iterator[Token]:
    """Yield the tokens of a text, in order and without gaps; a line end is a space.

    Args:
        text: the text; its lines end with a line feed.
        lexer: the lexer of its notation.
    """
    state = begin = 0
    for line in text.split("\n"):
        if begin:
            yield Token(begin - 1, begin, TokenKind.SPACE)
        found = lexer(line, state)
        for token in found.tokens:
            yield Token(begin + token.start, begin + token.end, token.kind, token.nesting)
        state, begin = found.state, begin + len(line) + 1


def runs(text: str, lexer: LineLexer) -> Iterator[tuple[TokenKind, str]]:
    """Yield the parts of a text whose tokens have one kind; joined, they are the text.

    Args:
        text: the text.
        lexer: the lexer of its notation.
    """
    for kind, tokens in groupby(lex(text, lexer), key=lambda token: token.kind):
        yield kind, "".join(text[token.start : token.end] for token in tokens)


def partners(text: str, lexer: LineLexer) -> dict[int, int]:
    """Return the offset of each bracket's partner, by the offset of the bracket, both in code points."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    state = begin = 0
    for line in text.split("\n"):
        found = lexer(line, state)
        for token in found.tokens:
            if token.nesting > 0:
                opened.append(begin + token.start)
            elif token.nesting < 0 and opened:
                opening, closing = opened.pop(), begin + token.start
                pairs[opening], pairs[closing] = closing, opening
        state, begin = found.state, begin + len(line) + 1
    return pairs


class CachedLexer:
    """A lexer that keeps the lines that it read: at a key, an editor asks for all lines again, and one has changed."""

    def __init__(self, lexer: LineLexer) -> None:
        self._lexer = lexer
        self._lines: dict[tuple[str, int], LineTokens] = {}
        self._kept = 0  # code points

    def __call__(self, line: str, state: int, /) -> LineTokens:
        """Return the tokens of a line that begins in a state."""
        found = self._lines.get((line, state))
        if found is None:
            if self._kept > _MOST_KEPT:
                self._lines.clear()
                self._kept = 0
            found = self._lines[line, state] = self._lexer(line, state)
            self._kept += len(line) + 1
        return found
