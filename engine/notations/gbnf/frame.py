"""An open group of the parser: the alternatives and items read so far."""

from __future__ import annotations

from dataclasses import dataclass

from engine.grammar import Choice, Empty, Node, Sequence
from engine.source import Span


@dataclass(slots=True)
class Item:
    """The operand of a quantifier.

    Attributes:
        span: its span, parentheses included.
        depth: the nesting depth of groups and stacked repetitions inside.
        weight: the largest product of nested repetition counts.
        symbols: its size in llama.cpp's symbols, which llama.cpp limits.
        repeated: whether it is a repetition already.
        vanished: whether it is empty in llama.cpp, which then refuses to repeat it.
    """

    node: Node
    span: Span
    depth: int = 0
    weight: int = 1
    symbols: int = 1
    repeated: bool = False
    vanished: bool = False


class GbnfFrame:
    """One open group, or a rule's complete body.

    Attributes:
        start: the offset of its parenthesis, or the start of the body.
        symbols_before: the number of llama.cpp's symbols before the group.
        depth: the largest of its items.
        weight: the largest of its items.
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
        """Remove and return the last item of this alternative, or None; it will be repeated."""
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
        """Return the node of everything read.

        Args:
            span: the group's span with its parentheses; None for a rule's body.
        """
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
