"""Anchors and word boundaries as conditions on the neighbouring characters.

Each is a `Lookaround` over one or two characters, negated so that the edge of the text satisfies it: "the start" is "no
character precedes", and "the start of a line" is "what precedes, if anything, is a line end". So the automata need only
lookaround, and no special case for anchors.
"""

from __future__ import annotations

from enum import StrEnum

from engine.grammar import Chars, CharSet, Choice, Lookaround, Node, Sequence
from engine.grammar.charset import ANY
from engine.notations.regex.dialect import NEWLINE, Dialect, Flags, line_ends, shorthand
from engine.source import Span


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
