"""The rule names of a GBNF text: definitions and uses.

One regular expression scans the text and recognises what is not a name: a comment, a literal, a class, a token element,
a count. An unclosed literal ends at the next line that begins a rule, so that a quote that is being typed does not
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
    """The kind of a piece of GBNF text."""

    COMMENT = "comment"
    LITERAL = "literal"
    CLASS = "class"
    TOKEN = "token"  # noqa: S105 - a token of a vocabulary
    COUNT = "count"
    NAME = "name"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a GBNF text; the span of a defined name excludes `::=`."""

    kind: GbnfPart
    span: Span
    defines: bool = False


def pieces(text: str) -> Iterator[Piece]:
    """Yield the tokens in order, without white space and other single characters."""
    for found in _TOKEN.finditer(text):
        group = found.lastgroup or ""
        kind = GbnfPart.NAME if group == "defines" else GbnfPart(group)
        yield Piece(kind, Span(*found.span(kind.value)), found["defines"] is not None)


def rule_span(text: str, name: Span) -> Span:
    """Return the span of a rule, given the span of its defined name: up to the next rule, without trailing blanks."""
    end = next((p.span.start for p in pieces(text) if p.defines and p.span.start > name.start), len(text))
    return Span(name.start, name.start + len(text[name.start : end].rstrip()))
