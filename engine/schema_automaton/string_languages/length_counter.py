"""Patterns with one counted repetition, as a pattern without the count and a range of lengths.

`^[a-z][a-z0-9-]{0,61}[a-z0-9]$` is `^[a-z][a-z0-9-]*[a-z0-9]$` of 2 to 63
characters: everything but the repetition has a fixed length, so the length of the whole
match determines the number of repetitions. A counter within the pattern makes each
count a state of its own, with a row of its own; `bounded_lexer` reads a range of lengths
for many counts at once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.grammar import Chars, Choice, Empty, Node, Repeat, Sequence

_FEWEST: Final = 16
"""Smaller counts are left in the pattern: they have few states."""


class Uncounted(NamedTuple):
    """A node that matches what another node does, if the length is in a range.

    Attributes:
        node: the node.
        least, most: the least and the greatest length in characters.
    """

    node: Node
    least: int
    most: int


def without_count(node: Node) -> Uncounted | None:
    """Return a node with its only repetition of varying length unbounded; None if there is no such repetition."""
    items = node.items if isinstance(node, Sequence) else (node,)
    lengths = [fixed_length(item) for item in items]
    if lengths.count(None) != 1:
        return None
    at = lengths.index(None)
    repeat = items[at]
    if not isinstance(repeat, Repeat) or repeat.maximum is None or repeat.maximum < _FEWEST:
        return None
    if fixed_length(repeat.node) != 1:
        return None
    around = sum(length for length in lengths if length is not None)
    endless = Repeat(repeat.node, 0, None, repeat.span)
    whole = Sequence((*items[:at], endless, *items[at + 1 :]), node.span) if isinstance(node, Sequence) else endless
    return Uncounted(whole, around + repeat.minimum, around + repeat.maximum)


def fixed_length(node: Node) -> int | None:
    """Return the number of characters that every match has; None if lengths differ or a lookaround decides."""
    match node:
        case Empty():
            return 0
        case Chars():
            return 1
        case Sequence():
            lengths = [fixed_length(item) for item in node.items]
            return None if None in lengths else sum(length for length in lengths if length is not None)
        case Choice():
            each = {fixed_length(alternative) for alternative in node.alternatives}
            return each.pop() if len(each) == 1 else None
        case Repeat():
            length = fixed_length(node.node)
            return length * node.minimum if length is not None and node.minimum == node.maximum else None
        case _:
            return None


def longest_completion(node: Node) -> int | None:
    """Return an upper bound of the characters that complete a match once it has begun; None if a lookaround decides."""
    match node:
        case Chars():
            return 1
        case Sequence() | Choice():
            items = node.items if isinstance(node, Sequence) else node.alternatives
            lengths = [longest_completion(item) for item in items]
            return None if None in lengths else sum(length for length in lengths if length is not None)
        case Repeat():
            length = longest_completion(node.node)
            return None if length is None else (node.minimum + 1) * length
        case Empty():
            return 0
        case _:
            return None
