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
from functools import lru_cache
from typing import Final

from engine.notations.editing.edits import Change, Edit
from engine.notations.editing.names import Name
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


_START: Final = "root"


@lru_cache(maxsize=8)  # called for each finding of a text
def rule_names(text: str) -> tuple[Name, ...]:
    """Return the rules of a text with their uses, in order of first occurrence."""
    return tuple(_rules(text))


def _rules(text: str) -> Iterator[Name]:
    defined: dict[str, list[Span]] = {}
    used: dict[str, list[Span]] = {}
    for piece in pieces(text):
        if piece.kind is GbnfPart.NAME:
            name = text[piece.span.start : piece.span.end]
            defined.setdefault(name, [])
            used.setdefault(name, [])
            (defined if piece.defines else used)[name].append(piece.span)
    for name, spans in defined.items():
        fixed = f"A grammar begins with `{_START}`, so its name stays" if name == _START and spans else ""
        yield Name(name, "rule", tuple(spans), tuple(used[name]), fixed)


def rename_rule(text: str, name: Name, new: str) -> Change:
    """Rename a rule; see `Notation.rename`."""
    if not NAME.fullmatch(new):
        return Change(refusal="A rule's name is made of letters A to Z, digits, `-` and `_`")
    other = next((other for other in rule_names(text) if other.text == new), None)
    if other is not None and other.definitions and name.definitions:
        return Change(refusal=f"There is a rule `{new}` already")
    return Change(tuple(Edit(span, new) for span in name.occurrences))
