"""A group that is still open: the alternatives and items read so far."""

from __future__ import annotations

from dataclasses import dataclass

from engine.grammar import Choice, Empty, Node, Sequence
from engine.source import Span


@dataclass(slots=True)
class Item:
    """What a quantifier would apply to.

    Attributes:
        span: its place, parentheses included.
        depth: of the groups and stacked repetitions inside.
        weight: the largest product of nested repetition counts.
        symbols: llama.cpp's own measure of its size, which it bounds.
        repeated: whether it is a repetition already.
        vanished: whether nothing is left of it in llama.cpp, which then refuses to repeat it.
    """

    node: Node
    span: Span
    depth: int = 0
    weight: int = 1
    symbols: int = 1
    repeated: bool = False
    vanished: bool = False


class GbnfFrame:
    """One open group, or a rule's whole body.

    Attributes:
        start: where its parenthesis stands, or the body begins.
        symbols_before: how many symbols llama.cpp had before the group.
        depth: the greatest of its items.
        weight: the greatest of its items.
    """

    __slots__ = ("_alternatives", "_begin", "_items", "_last", "_spans", "depth", "start", "symbols_before", "weight")

    def __init__(self, begin: int, symbols_before: int, start: int | None = None) -> None:
        self.start = begin if start is None else start
        self.symbols_before = symbols_before
        self.depth = 0
        self.weight = 1
        self._alternatives: list[Node] = []
        self._items: list[Node] = []
        self._spans: list[Span] = []
        self._last: Item | None = None
        self._begin = begin

    def add(self, item: Item) -> None:
        """Append an item."""
        self._items.append(item.node)
        self._spans.append(item.span)
        self._last = item
        self.depth = max(self.depth, item.depth)
        self.weight = max(self.weight, item.weight)

    def take_last(self) -> Item | None:
        """Remove the last item of this alternative, to be repeated; None where there is none."""
        item = self._last
        if item is not None:
            self._items.pop()
            self._spans.pop()
            self._last = None
        return item

    def end_alternative(self, begin: int) -> None:
        """Begin a new alternative at `begin`."""
        self._alternatives.append(self._sequence(None))
        self._items, self._spans, self._last, self._begin = [], [], None, begin

    def finish(self, span: Span | None) -> Node:
        """The node of everything read; `span` is the group's with its parentheses, None for a rule's body."""
        if not self._alternatives:
            return self._sequence(span)
        self._alternatives.append(self._sequence(None))
        alternatives = tuple(self._alternatives)
        return Choice(alternatives, span or Span(alternatives[0].span.start, self._end()))

    def _end(self) -> int:
        return self._spans[-1].end if self._spans else self._begin

    def _sequence(self, span: Span | None) -> Node:
        if len(self._items) == 1:
            return self._items[0]
        if not self._items:
            return Empty(span or Span(self._begin, self._begin))
        return Sequence(tuple(self._items), span or Span(self._spans[0].start, self._end()))
