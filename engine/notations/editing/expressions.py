"""Expressions in a text: rules, alternatives, items and quantifiers, each with its span.

A refactoring moves parts of a text, so it needs what nodes do not keep: parentheses, quantifiers as written, and the
extent of an alternative. One reader builds the tree of every notation that consists of alternatives; a notation says
with `ExpressionSyntax` where its tokens are and how it writes groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, NamedTuple

from engine.source import Span


class PieceKind(StrEnum):
    """The kind of a piece of a text."""

    ATOM = "atom"
    REFERENCE = "reference"
    QUANTIFIER = "quantifier"
    BAR = "bar"
    OPEN = "open"
    CLOSE = "close"
    RULE = "rule"  # the name of a rule
    BODY = "body"  # the sign between the name and the body of a rule
    COMMENT = "comment"


class Piece(NamedTuple):
    """A piece of a text; what is between pieces means nothing."""

    kind: PieceKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ExpressionItem:
    """An item of a sequence.

    Attributes:
        span: its span, quantifiers included.
        atom: its span without quantifiers.
        reference: the rule that it names; empty if it is no reference.
        group: the choice between its parentheses; None if it is no group.
    """

    span: Span
    atom: Span
    reference: str = ""
    group: ChoiceText | None = None

    @property
    def is_quantified(self) -> bool:
        """Return whether a quantifier follows the atom."""
        return self.span != self.atom


@dataclass(frozen=True, slots=True)
class AlternativeText:
    """A sequence of items; an empty one has an empty span."""

    span: Span
    items: tuple[ExpressionItem, ...]


@dataclass(frozen=True, slots=True)
class ChoiceText:
    """The alternatives of a rule or of a group."""

    alternatives: tuple[AlternativeText, ...]

    @property
    def span(self) -> Span:
        """Its span, from the first to the last item."""
        return Span(self.alternatives[0].span.start, self.alternatives[-1].span.end)

    def choices(self) -> Iterator[ChoiceText]:
        """Yield this choice and all within it, an inner one after the one around it."""
        todo = [self]
        while todo:
            choice = todo.pop()
            yield choice
            todo += [item.group for part in choice.alternatives for item in part.items if item.group is not None]

    def references(self) -> Iterator[ExpressionItem]:
        """Yield the references to rules."""
        for choice in self.choices():
            yield from (item for part in choice.alternatives for item in part.items if item.reference)


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule; a notation without rules has one without a name.

    Attributes:
        name: its name.
        defined: the span of the name in its definition.
        body: what it consists of.
    """

    name: str
    defined: Span
    body: ChoiceText

    @property
    def span(self) -> Span:
        """Its span, from its name to its last item."""
        return Span(self.defined.start, max(self.body.span.end, self.defined.end))


class ExpressionSyntax:
    """The tokens of a notation of alternatives, and how it writes groups.

    Attributes:
        gap: what separates two items.
        opening: what opens a group that captures nothing.
        empty: the empty text, as an item.
    """

    gap: ClassVar[str] = ""
    opening: ClassVar[str] = "("
    empty: ClassVar[str] = ""

    def pieces(self, text: str) -> Iterable[Piece]:
        """Return the pieces of a valid text, in order."""
        raise NotImplementedError(f"no pieces of {text!r}")

    def characters(self, item: str) -> tuple[str, ...]:
        """Return the items of which an item is made; by default the item itself."""
        return (item,)

    def joined(self, items: Sequence[str]) -> str:
        """Return a sequence of items as text."""
        return self.gap.join(items) or self.empty

    def group(self, content: str) -> str:
        """Return a group."""
        return f"{self.opening}{content})"

    def rules(self, text: str) -> tuple[RuleText, ...]:
        """Return the rules of a valid text, in order."""
        return tuple(_rules(text, self.pieces(text)))


@dataclass(slots=True)
class _Open:
    """A group or a body that is being read."""

    start: int
    begin: int  # of the alternative
    items: list[ExpressionItem] = field(default_factory=list)
    alternatives: list[AlternativeText] = field(default_factory=list)

    def end_alternative(self, begin: int) -> None:
        items = tuple(self.items)
        span = Span(items[0].span.start, items[-1].span.end) if items else Span(self.begin, self.begin)
        self.alternatives.append(AlternativeText(span, items))
        self.items, self.begin = [], begin

    def finish(self) -> ChoiceText:
        self.end_alternative(0)
        return ChoiceText(tuple(self.alternatives))


def _rules(text: str, pieces: Iterable[Piece]) -> Iterator[RuleText]:
    defined: Span | None = None
    opened = [_Open(0, 0)]
    for kind, start, end in pieces:
        here = opened[-1]
        if kind is PieceKind.RULE:
            if defined is not None:
                yield RuleText(text[defined.start : defined.end], defined, opened[0].finish())
            defined, opened = Span(start, end), [_Open(end, end)]
        elif kind is PieceKind.BODY:
            here.begin = end
        elif kind is PieceKind.BAR:
            here.end_alternative(end)
        elif kind is PieceKind.OPEN:
            opened.append(_Open(start, end))
        elif kind is PieceKind.CLOSE:
            group = opened.pop()
            span = Span(group.start, end)
            opened[-1].items.append(ExpressionItem(span, span, group=group.finish()))
        elif kind is PieceKind.QUANTIFIER:
            last = here.items.pop()
            here.items.append(ExpressionItem(Span(last.span.start, end), last.atom, last.reference, last.group))
        elif kind is not PieceKind.COMMENT:
            span = Span(start, end)
            here.items.append(ExpressionItem(span, span, text[start:end] if kind is PieceKind.REFERENCE else ""))
    name = "" if defined is None else text[defined.start : defined.end]
    yield RuleText(name, defined or Span(0, 0), opened[0].finish())
