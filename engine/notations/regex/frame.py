"""An open group of the parser: the alternatives and items read so far."""

from __future__ import annotations

from enum import StrEnum

from engine.grammar import Choice, Empty, Node, Sequence
from engine.notations.regex.groups import Opening
from engine.source import Span


class LastItem(StrEnum):
    """The kind of the last item; the value is the finding for a quantifier after it, if any."""

    NOTHING = "regex-nothing-to-repeat"
    CONDITION = "regex-anchor-repeated"
    REPETITION = "regex-multiple-repeat"
    ATOM = ""


class RegexFrame:
    """One open group, or the complete pattern.

    Attributes:
        opening: what opened it.
        flags: the active flags.
        last: the operand of a following quantifier.
        weight: the largest product of nested repetition counts inside.
    """

    __slots__ = (
        "_alternative_start",
        "_alternatives",
        "_items",
        "_last_start",
        "_last_weight",
        "flags",
        "last",
        "opening",
        "weight",
    )

    def __init__(self, opening: Opening) -> None:
        self.opening = opening
        self.flags = opening.flags
        self.last = LastItem.NOTHING
        self.weight = 1
        self._last_weight = 1
        self._last_start = opening.span.end
        self._items: list[Node] = []
        self._alternatives: list[Node] = []
        self._alternative_start = opening.span.end

    @property
    def is_untouched(self) -> bool:
        """True if nothing that matches was read yet."""
        return not self._items and not self._alternatives

    def add(self, node: Node, last: LastItem = LastItem.ATOM, weight: int = 1, *, start: int | None = None) -> None:
        """Append an item.

        Args:
            node: the item's node.
            last: its kind.
            weight: its largest product of nested repetition counts.
            start: where it begins in the text, if before its node (at a parenthesis).
        """
        self._items.append(node)
        self.last = last
        self._last_weight = weight
        self._last_start = node.span.start if start is None else start
        self.weight = max(self.weight, weight)

    def take_last(self) -> tuple[Node, int, int]:
        """Remove and return the last item, to be repeated: its node, its weight and its start."""
        return self._items.pop(), self._last_weight, self._last_start

    def end_alternative(self, end: int) -> None:
        """Begin a new alternative after a `|` at `end`."""
        self._alternatives.append(_sequence(self._items, Span(self._alternative_start, end)))
        self._alternative_start = end + 1
        self._items = []
        self.last = LastItem.NOTHING

    def finish(self, span: Span, end: int) -> Node:
        """Return the node of everything read; the body ends at `end`, the group with its parentheses covers `span`."""
        if not self._alternatives:
            return _sequence(self._items, span)
        self.end_alternative(end)
        return Choice(tuple(self._alternatives), span)


def _sequence(items: list[Node], span: Span) -> Node:
    match items:
        case []:
            return Empty(span)
        case [single]:
            return single
        case _:
            return Sequence(tuple(items), span)
