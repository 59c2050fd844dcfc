"""A text told as a tree of phrases, and how such a tree is written down.

The tree is a list in the order of reading, each phrase with its depth: it is
read, sent and indented from left to right, and no nesting of a grammar becomes
nesting of Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from engine.source import Span, checkpoint

MOST_PHRASES = 20_000
"""No more are told of one text."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a part of the text means.

    Attributes:
        text: in words, one line; what is quoted stands between backticks.
        span: the part.
        depth: how many phrases hold it.
        size: how many phrases it holds, and they in turn: the next one that it does not hold comes after so many.
        target: where that is defined which the part refers to; None where it refers to nothing.
    """

    text: str
    span: Span
    depth: int
    size: int = 0
    target: Span | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """All phrases of a text.

    Attributes:
        phrases: each right before those that it holds.
        is_whole: whether none was left out.
    """

    phrases: tuple[Phrase, ...]
    is_whole: bool = True

    def lines(self) -> Iterator[str]:
        """The tree as text, two blanks for each depth."""
        for phrase in self.phrases:
            yield f"{'  ' * phrase.depth}{phrase.text}"
        if not self.is_whole:
            yield f"The rest is not told: no more than {MOST_PHRASES:,} lines."


def nothing() -> Iterable[ExplanationEntry]:
    """What a leaf holds."""
    return ()


@dataclass(frozen=True, slots=True)
class ExplanationEntry:
    """A phrase before it has a place in the tree; what it holds is told when it is its turn.

    Attributes:
        inner: gives what it holds, in source order.
    """

    text: str
    span: Span
    inner: Callable[[], Iterable[ExplanationEntry]] = nothing
    target: Span | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether it holds nothing."""
        return self.inner is nothing


def unfold(entries: Iterable[ExplanationEntry], most: int = MOST_PHRASES) -> Description:
    """The tree of some entries, as far as it may go."""
    told: list[tuple[ExplanationEntry, int]] = []
    sizes: list[int] = []
    holders: list[int] = []
    todo = [iter(entries)]
    is_whole = True
    while todo:
        checkpoint()
        entry = next(todo[-1], None)
        if entry is None:
            todo.pop()
            if holders:
                number = holders.pop()
                sizes[number] = len(told) - number - 1
        elif len(told) == most:
            is_whole = False
            todo = [iter(()) for _ in todo]
        else:
            told.append((entry, len(holders)))
            holders.append(len(sizes))
            sizes.append(0)
            todo.append(iter(entry.inner()))
    phrases = (
        Phrase(entry.text[:1].upper() + entry.text[1:], entry.span, depth, size, entry.target)
        for (entry, depth), size in zip(told, sizes, strict=True)
    )
    return Description(tuple(phrases), is_whole)
