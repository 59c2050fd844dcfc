"""The explanation of a grammar: the meaning of each part of its text, as a tree that follows the text.

`turnstile explain --tree` prints it; the editor shows it beside the text. It is built from the parsers' results, so it
states what matches, and an invalid text has none. The tree is a list in reading order, each phrase with its depth: it
is read, sent and indented from left to right, and nested grammars do not use Python's stack.

Rejected: an explanation of the text's tokens. It would work for an invalid text too, but describe its form, not its
meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from engine.source import Span, checkpoint
from engine.source.catalogue import capitalised, catalogue_text

MOST_PHRASES = 20_000
"""The largest number of phrases for one text."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """The meaning of a part of the text.

    Attributes:
        text: a description in one line; quotations are in backticks.
        span: the part.
        depth: the number of enclosing phrases.
        size: the number of phrases inside it, at any depth: the next phrase outside it comes after that many.
        target: the definition that the part refers to; None if it refers to nothing.
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
        phrases: each directly before its inner phrases.
        is_whole: whether none was left out.
    """

    phrases: tuple[Phrase, ...]
    is_whole: bool = True

    def lines(self) -> Iterator[str]:
        """Yield the tree as text, two spaces for each depth."""
        for phrase in self.phrases:
            yield f"{'  ' * phrase.depth}{phrase.text}"
        if not self.is_whole:
            yield capitalised(catalogue_text("explanation.cut", most=MOST_PHRASES))


def nothing() -> Iterable[ExplanationEntry]:
    """Return no entries: the inner entries of a leaf."""
    return ()


@dataclass(frozen=True, slots=True)
class ExplanationEntry:
    """A phrase before its position in the tree is known; its inner entries are computed on demand.

    Attributes:
        inner: returns the inner entries, in source order.
    """

    text: str
    span: Span
    inner: Callable[[], Iterable[ExplanationEntry]] = nothing
    target: Span | None = None

    @property
    def is_leaf(self) -> bool:
        """True if it has no inner entries."""
        return self.inner is nothing


def unfold(entries: Iterable[ExplanationEntry], most: int = MOST_PHRASES) -> Description:
    """Expand entries to a list of phrases.

    Args:
        entries: the top-level entries.
        most: the largest number of phrases.
    """
    listed: list[tuple[ExplanationEntry, int]] = []
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
                sizes[number] = len(listed) - number - 1
        elif len(listed) == most:
            is_whole = False
            todo = [iter(()) for _ in todo]
        else:
            listed.append((entry, len(holders)))
            holders.append(len(sizes))
            sizes.append(0)
            todo.append(iter(entry.inner()))
    phrases = (
        Phrase(capitalised(entry.text), entry.span, depth, size, entry.target)
        for (entry, depth), size in zip(listed, sizes, strict=True)
    )
    return Description(tuple(phrases), is_whole)
