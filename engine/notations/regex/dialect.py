"""The two dialects, the flags at a position of a pattern, and the meaning of shorthands and anchors.

`python` is the syntax of CPython's `re` plus Unicode properties; `ecma` is ECMAScript with the u flag, which JSON
Schema's `pattern` uses.

In `python`, `\\d \\w \\s \\b` and `(?i)` have the meaning that `re` gives them in a `str` pattern: Unicode, and ASCII
under `(?a)`. The sets are computed with the running interpreter's `re`, so they have its Unicode version
(`unicodedata.unidata_version`: 14.0 in Python 3.11), and a pattern means the same here and in the user's `re`.
Properties `\\p{…}`, which `re` lacks, have the version of the `regex` package.

In `ecma`, they are defined by ECMA-262: `\\d \\w \\b` are ASCII, `\\s` is a separate list.

An anchor is a `Lookaround` over one or two characters, negated so that the edge of the text satisfies it: "the start"
is "no character precedes", and "the start of a line" is "what precedes, if anything, is a line end". So the automata
need only lookaround, and no special case for anchors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from engine.grammar import Chars, CharSet, Choice, Lookaround, Node, Sequence
from engine.grammar.charset import ANY
from engine.notations.regex.unicode_sets import CaseFold, close_under_case, matched_by
from engine.source import Span


class Dialect(StrEnum):
    """The syntax and shorthands of a pattern."""

    PYTHON = "python"
    ECMA = "ecma"


@dataclass(frozen=True, slots=True)
class Flags:
    """The active flags at a position of a pattern.

    Attributes:
        ignore_case: `i`.
        multiline: `m`, `^` and `$` also match at line ends.
        dot_all: `s`, `.` matches line ends too.
        verbose: `x`, white space and comments are skipped.
        ascii: `a`, `\\d \\w \\s \\b` and `i` are restricted to ASCII.
        unicode: `u`, the default, which contradicts an `a` for the whole pattern.
    """

    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False
    verbose: bool = False
    ascii: bool = False
    unicode: bool = False


NEWLINE: Final = CharSet.chars("\n")
ECMA_LINE_ENDS: Final = CharSet.chars("\n\r\u2028\u2029")

_ASCII_DIGIT: Final = CharSet(((0x30, 0x39),))
_ASCII_WORD: Final = CharSet.of(((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))
_ASCII_SPACE: Final = CharSet.chars(" \t\n\r\f\v")
# ECMAScript's WhiteSpace and LineTerminator: Zs, TAB, VT, FF, ZWNBSP and the line ends.
_ECMA_SPACE: Final = CharSet.of(
    (
        (0x09, 0x0D),
        (0x20, 0x20),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    )
)


def shorthand(letter: str, dialect: Dialect, flags: Flags) -> CharSet:
    """Return the set of `\\d \\D \\w \\W \\s \\S`.

    Python does not widen a shorthand under `(?i)`. In ECMAScript `\\w` with u and i also contains the two characters
    that fold to an ASCII letter, and `\\W` is its complement.

    Args:
        letter: the character after the backslash.
        dialect: the dialect of the pattern.
        flags: the active flags.
    """
    if dialect is Dialect.ECMA:
        return _shorthand(letter, _Repertoire.ECMA_ANY_CASE if flags.ignore_case else _Repertoire.ECMA)
    return _shorthand(letter, _Repertoire.ASCII if flags.ascii else _Repertoire.UNICODE)


class _Repertoire(StrEnum):
    """The character sets behind the shorthands."""

    ASCII = "ascii"
    UNICODE = "unicode"
    ECMA = "ecma"
    ECMA_ANY_CASE = "ecma, any case"


@cache
def _shorthand(letter: str, repertoire: _Repertoire) -> CharSet:
    if letter.isupper():
        return ~_shorthand(letter.lower(), repertoire)
    match repertoire:
        case _Repertoire.UNICODE:
            return matched_by(re.compile(rf"\{letter}+"))
        case _Repertoire.ECMA_ANY_CASE if letter == "w":
            return close_under_case(_ASCII_WORD, CaseFold.SIMPLE)
        case _:
            space = _ASCII_SPACE if repertoire is _Repertoire.ASCII else _ECMA_SPACE
            return {"d": _ASCII_DIGIT, "w": _ASCII_WORD, "s": space}[letter]


def line_ends(dialect: Dialect) -> CharSet:
    """Return the line ends for `.`, and for `^` and `$` in multiline mode."""
    return ECMA_LINE_ENDS if dialect is Dialect.ECMA else NEWLINE


@cache
def dot(dialect: Dialect, *, dot_all: bool) -> CharSet:
    """Return the characters that `.` matches."""
    return ANY if dot_all else ~line_ends(dialect)


def fold_of(dialect: Dialect, flags: Flags) -> CaseFold | None:
    """Return the case folding of literals and ranges; `None` if case matters."""
    if not flags.ignore_case:
        return None
    if dialect is Dialect.ECMA:
        return CaseFold.SIMPLE
    return CaseFold.ASCII if flags.ascii else CaseFold.PYTHON


class Anchor(StrEnum):
    """A condition on a position in the text."""

    CARET = "^"
    DOLLAR = "$"
    TEXT_START = r"\A"
    TEXT_END = r"\Z"
    WORD_BOUNDARY = r"\b"
    NOT_WORD_BOUNDARY = r"\B"


def anchor_node(anchor: Anchor, dialect: Dialect, flags: Flags, span: Span) -> Node:
    """Return the condition of an anchor.

    Args:
        anchor: the anchor.
        dialect: the dialect of the pattern.
        flags: the active flags.
        span: the span of the anchor.
    """
    match anchor:
        case Anchor.CARET if flags.multiline:
            return _not_behind(~line_ends(dialect), span)
        case Anchor.CARET | Anchor.TEXT_START:
            return _not_behind(ANY, span)
        case Anchor.DOLLAR if flags.multiline:
            return _not_ahead(~line_ends(dialect), span)
        case Anchor.DOLLAR if dialect is Dialect.PYTHON:
            return _end_or_last_newline(span)
        case Anchor.DOLLAR | Anchor.TEXT_END:
            return _not_ahead(ANY, span)
        case Anchor.WORD_BOUNDARY | Anchor.NOT_WORD_BOUNDARY:
            word = shorthand("w", dialect, flags)
            return _word_boundary(word, span, negated=anchor is Anchor.NOT_WORD_BOUNDARY)


def _not_behind(characters: CharSet, span: Span) -> Lookaround:
    return Lookaround(Chars(characters, span), ahead=False, negated=True, span=span)


def _not_ahead(characters: CharSet, span: Span) -> Lookaround:
    return Lookaround(Chars(characters, span), ahead=True, negated=True, span=span)


def _end_or_last_newline(span: Span) -> Lookaround:
    # Python's `$`: neither something other than a newline, nor a newline and something, follows.
    more = Choice((Chars(~NEWLINE, span), Sequence((Chars(NEWLINE, span), Chars(ANY, span)), span)), span)
    return Lookaround(more, ahead=True, negated=True, span=span)


def _word_boundary(word: CharSet, span: Span, *, negated: bool) -> Choice:
    # A boundary is where exactly one side is a word character; its negation, where both or neither is.
    inside = Chars(word, span)

    def sides(*, behind: bool, ahead: bool) -> Sequence:
        return Sequence(
            (
                Lookaround(inside, ahead=False, negated=not behind, span=span),
                Lookaround(inside, ahead=True, negated=not ahead, span=span),
            ),
            span,
        )

    return Choice((sides(behind=True, ahead=negated), sides(behind=False, ahead=not negated)), span)
