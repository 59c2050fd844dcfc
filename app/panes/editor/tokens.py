"""The tokens that highlighting consists of, and the state carried from one line to the next.

A tokeniser is no parser: it highlights broken text and never fails. The engine's parser reports errors; colours only
help to read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


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
    """A range of code points in a line.

    Attributes:
        nesting: 1 for an opening bracket, -1 for a closing one, else 0.
    """

    start: int
    end: int
    kind: TokenKind
    nesting: int = 0


@dataclass(frozen=True, slots=True)
class LineTokens:
    """The tokens of a line, in order, and the state in which the next line begins."""

    tokens: tuple[Token, ...]
    state: int


class Tokeniser(Protocol):
    """The tokeniser of a notation."""

    def __call__(self, line: str, state: int, /) -> LineTokens:
        """Tokenise a line that begins in a state; the first line of a text begins in state 0."""
        ...


def plain(_line: str, state: int) -> LineTokens:
    """Return no tokens: the tokeniser of a notation without highlighting."""
    return LineTokens((), state)


def partners(text: str, tokenise: Tokeniser) -> dict[int, int]:
    """Return the offset of each bracket's partner, by the offset of the bracket, both in code points."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    state = begin = 0
    for line in text.split("\n"):
        result = tokenise(line, state)
        for token in result.tokens:
            if token.nesting > 0:
                opened.append(begin + token.start)
            elif token.nesting < 0 and opened:
                opening = opened.pop()
                pairs[opening], pairs[begin + token.start] = begin + token.start, opening
        state, begin = result.state, begin + len(line) + 1
    return pairs
