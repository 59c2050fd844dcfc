"""The rule names of a GBNF text, where each is defined and where it is used.

One pattern goes over the text and knows what a name is not: a comment, a
literal, a class, a token element, a count. An open literal ends at the latest
where a line begins a rule, so that a quote that is just being typed does not
swallow the rules below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.source import Span

NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_RULE: Final = r"(?![ \t]*[A-Za-z0-9_-]+[ \t]*::=)"
_TOKEN: Final = re.compile(
    r"(?P<comment>\#[^\r\n]*)"
    rf"|(?P<literal>\"(?:[^\"\\\n]|\\[^\n]|\n{_RULE})*+\"?)"
    rf"|(?P<class>\[(?:[^\]\\\n]|\\[^\n]|\n{_RULE})*+\]?)"
    r"|(?P<token>!?<[^>\r\n]*>?)"
    r"|(?P<count>\{[\d,\s]*\}?)"
    r"|(?P<name>[A-Za-z0-9_-]+)(?P<defines>[ \t]*::=)?"
    r"|(?P<mark>::=|[|()])"
)


class GbnfPart(StrEnum):
    """What a piece of a GBNF text is."""

    COMMENT = "comment"
    LITERAL = "literal"
    CLASS = "class"
    TOKEN = "token"  # noqa: S105 - a token of a vocabulary
    COUNT = "count"
    NAME = "name"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a GBNF text; of a name that is defined here, `::=` is no part of the span."""

    kind: GbnfPart
    span: Span
    defines: bool = False


def pieces(text: str) -> Iterator[Piece]:
    """All that is neither blank nor a single character of no interest, in order."""
    for found in _TOKEN.finditer(text):
        group = found.lastgroup or ""
        kind = GbnfPart.NAME if group == "defines" else GbnfPart(group)
        yield Piece(kind, Span(*found.span(kind.value)), found["defines"] is not None)


def rule_span(text: str, name: Span) -> Span:
    """All of a rule, by the span of the name that it defines: up to the next one, without the blanks before that."""
    end = next((p.span.start for p in pieces(text) if p.defines and p.span.start > name.start), len(text))
    return Span(name.start, name.start + len(text[name.start : end].rstrip()))
