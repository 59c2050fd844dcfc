"""Construction of nodes in simplest form.

Parts without strings are dropped, empty parts disappear, and equal neighbours become one repetition. People read the
text; these are the simplifications that they would make.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Final

from engine.grammar import EMPTY, NEVER, Chars, CharSet, Choice, Empty, Lookaround, Never, Node, Repeat, Sequence
from engine.source import checkpoint

_MOST_COPIES: Final = 4
"""The largest count of a single character that is written as literal text."""


def one_of(text: str) -> Chars:
    """Return a class of characters."""
    return Chars(CharSet.chars(text))


def literal(text: str) -> Node:
    """Return a literal text."""
    return sequence(*(one_of(character) for character in text))


def sequence(*items: Node) -> Node:
    """Return a concatenation."""
    checkpoint()
    flat: list[Node] = []
    for item in items:
        if isinstance(item, Never):
            return NEVER
        for part in item.items if isinstance(item, Sequence) else (item,):
            if isinstance(part, Empty):
                continue
            joined = _joined(flat[-1], part) if flat else None
            if joined is None:
                flat.append(part)
            else:
                flat[-1] = joined
    if not flat:
        return EMPTY
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def _joined(before: Node, after: Node) -> Node | None:
    """Join two neighbours to one unbounded repetition, such as `x x*`; return None if they are none."""
    if isinstance(after, Repeat) and after.maximum is None and after.node == before:
        return Repeat(before, after.minimum + 1, None)
    return None


def choice(*alternatives: Node) -> Node:
    """Return a choice."""
    checkpoint()
    chars: CharSet | None = None
    place = 0
    flat: dict[Node, None] = {}
    may_be_empty = False
    for alternative in alternatives:
        for part in alternative.alternatives if isinstance(alternative, Choice) else (alternative,):
            if isinstance(part, Never):
                continue
            if isinstance(part, Empty):
                may_be_empty = True
            elif isinstance(part, Chars):
                place = len(flat) if chars is None else place
                chars = part.set if chars is None else chars | part.set
            else:
                flat[part] = None
    these = list(flat)
    if chars is not None:
        these.insert(place, Chars(chars))
    if not these:
        return EMPTY if may_be_empty else NEVER
    whole = these[0] if len(these) == 1 else Choice(tuple(these))
    return optional(whole) if may_be_empty else whole


def optional(node: Node) -> Node:
    """Return a node or nothing."""
    match node:
        case Never() | Empty():
            return EMPTY
        case Repeat(minimum=0):
            return node
        case Repeat(minimum=1):
            return Repeat(node.node, 0, node.maximum)
        case _:
            return Repeat(node, 0, 1)


def repeat(node: Node, minimum: int, maximum: int | None) -> Node:
    """Return a repetition, in a simpler form if there is one.

    Args:
        node: the repeated expression.
        minimum: the smallest count.
        maximum: the largest count; None for no limit.
    """
    if maximum == 0 or isinstance(node, Empty):
        return EMPTY
    if isinstance(node, Never):
        return EMPTY if minimum == 0 else NEVER
    if (minimum, maximum) == (1, 1):
        return node
    if (minimum, maximum) == (0, 1):
        return optional(node)
    if minimum == maximum and minimum <= _MOST_COPIES and isinstance(node, Chars) and len(node.set) == 1:
        return sequence(*[node] * minimum)
    if isinstance(node, Repeat) and maximum is None and minimum <= 1 and node.minimum <= 1 and node.maximum != 0:
        return Repeat(node.node, min(minimum, node.minimum), None)
    return Repeat(node, minimum, maximum)


def size(node: Node) -> int:
    """Return the length of a node for a reader: its atoms, plus one for each group."""
    total, todo = 0, [node]
    while todo:
        checkpoint()
        part = todo.pop()
        match part:
            case Sequence():
                todo += part.items
            case Choice():
                todo += part.alternatives
                total += 1
            case Repeat() | Lookaround():
                todo.append(part.node)
                total += 1
            case Chars():
                total += max(1, len(part.set.ranges) // 2)
            case _:
                total += 1
    return total


def depth(node: Node) -> int:
    """Return the nesting depth of a node's groups."""
    deepest, todo = 0, [(node, 0)]
    while todo:
        part, level = todo.pop()
        deepest = max(deepest, level)
        match part:
            case Sequence():
                todo += [(item, level) for item in part.items]
            case Choice():
                todo += [(item, level + 1) for item in part.alternatives]
            case Repeat() | Lookaround():
                inner = part.node
                todo.append((inner, level if isinstance(inner, Choice) else level + isinstance(inner, Sequence)))
            case _:
                pass
    return deepest


def mapped(node: Node, leaf: Callable[[Node], Node]) -> Node:
    """Return the node with each of its leaves replaced; the node itself if no leaf changes."""
    match node:
        case Sequence():
            items = [mapped(item, leaf) for item in node.items]
            return node if all(map(is_, items, node.items)) else sequence(*items)
        case Choice():
            items = [mapped(item, leaf) for item in node.alternatives]
            return node if all(map(is_, items, node.alternatives)) else choice(*items)
        case Repeat():
            inner = mapped(node.node, leaf)
            return node if inner is node.node else repeat(inner, node.minimum, node.maximum)
        case _:
            return leaf(node)
