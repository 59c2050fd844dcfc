"""The language of a grammar node, the slow and obvious way: sets of end positions in one text."""

from __future__ import annotations

from hypothesis import strategies as st

from engine.grammar import Chars, CharSet, Choice, Empty, Lookaround, Never, Node, Repeat, Sequence

ALPHABET = "abé"


def ends(node: Node, text: str, start: int) -> frozenset[int]:
    """Where a match of `node` that begins at `start` may end."""
    match node:
        case Empty():
            return frozenset({start})
        case Never():
            return frozenset()
        case Chars():
            fits = start < len(text) and ord(text[start]) in node.set
            return frozenset({start + 1}) if fits else frozenset()
        case Sequence():
            reached = frozenset({start})
            for item in node.items:
                reached = frozenset().union(*(ends(item, text, at) for at in reached))
            return reached
        case Choice():
            return frozenset().union(*(ends(item, text, start) for item in node.alternatives))
        case Repeat():
            return _repeat_ends(node, text, start)
        case Lookaround():
            if node.ahead:
                found = bool(ends(node.node, text, start))
            else:
                found = any(start in ends(node.node, text, begin) for begin in range(start + 1))
            return frozenset({start}) if found != node.negated else frozenset()


def _repeat_ends(node: Repeat, text: str, start: int) -> frozenset[int]:
    # An unbounded loop needs no more passes than the least count and one for every character.
    most = node.maximum if node.maximum is not None else node.minimum + len(text) + 1
    reached, result = frozenset({start}), frozenset[int]()
    for count in range(most + 1):
        if count >= node.minimum:
            result |= reached
        reached = frozenset().union(*(ends(node.node, text, at) for at in reached))
    return result


def matches(node: Node, text: str) -> bool:
    """Whether the whole text matches."""
    return len(text) in ends(node, text, 0)


def _repeat(node: Node, minimum: int, more: int | None) -> Node:
    return Repeat(node, minimum, None if more is None else minimum + more)


def nodes(*, looks: bool) -> st.SearchStrategy[Node]:
    """Random grammar nodes over a small alphabet."""
    chars = st.sets(st.sampled_from(ALPHABET), min_size=1).map(lambda s: Chars(CharSet.chars("".join(sorted(s)))))
    any_char = st.just(Chars(CharSet(((0, 0x10FFFF),))))
    leaves = st.one_of(chars, chars, any_char, st.just(Empty()), st.just(Never()))

    def extend(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        shapes = [
            st.lists(inner, min_size=1, max_size=3).map(lambda items: Sequence(tuple(items))),
            st.lists(inner, min_size=1, max_size=3).map(lambda items: Choice(tuple(items))),
            st.builds(_repeat, inner, st.integers(0, 3), st.one_of(st.none(), st.integers(0, 2))),
        ]
        if looks:
            shapes.append(st.builds(Lookaround, inner, st.booleans(), st.booleans()))
        return st.one_of(shapes)

    return st.recursive(leaves, extend, max_leaves=7)
