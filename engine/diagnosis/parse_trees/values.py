"""Parse trees as values that the window and JSON output receive; nothing here loads an automaton."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from engine.source import Span


class NodeKind(StrEnum):
    """The kind of a node."""

    RULE = "rule"  # a rule that was called; the start rule is the root
    GROUP = "group"  # a capture group of a regular expression
    ALTERNATIVE = "alternative"  # the alternative that was taken
    ITEM = "item"  # one pass of a repetition; in JSON an element of an array
    PROPERTY = "property"  # a property of a JSON object, with its value
    VALUE = "value"  # the top-level JSON value
    TEXT = "text"  # bytes that a part of the grammar read


class ParseNode(NamedTuple):
    """A node of a parse tree.

    Attributes:
        kind: its kind.
        name: the name of a rule, group or property; the number of an alternative or item; empty for a text.
        start: the offset of its first byte.
        end: the offset after its last byte; None while it is open.
        spans: what matched it in the grammar's text: first its definition, then its reference or its keywords.
        pointers: for a schema, the JSON Pointers of the keywords that were in force, in the order of `spans`.
        detail: the type of a JSON value; the number of alternatives.
        below: the number of nodes below it, which follow it; None while it is open: all that follow are.
    """

    kind: NodeKind
    name: str
    start: int
    end: int | None
    spans: tuple[Span, ...] = ()
    pointers: tuple[str, ...] = ()
    detail: str = ""
    below: int | None = 0


ParseTree = tuple[ParseNode, ...]
"""The nodes of a tree, each before those below it."""


class ParseOutcome(StrEnum):
    """The result of parsing a text."""

    COMPLETE = "complete"
    BEGINNING = "beginning"  # a legal text that is not complete
    REFUSED = "refused"  # a byte is illegal


class FailedAttempt(NamedTuple):
    """A part of the grammar that was open, or was tried, at the first illegal byte, and could not read it.

    Attributes:
        names: the open rules, the innermost first; for a schema, the JSON Pointers concerned.
        start: the offset where the innermost rule began; None in a schema.
        expected: the inclusive byte ranges that it would have read.
        spans: what expected them in the grammar's text.
        node: the index of the innermost of its rules in the first tree; None if none of them is in that.
        properties: in a JSON object, the names of the properties that might have come.
    """

    names: tuple[str, ...]
    start: int | None
    expected: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...]
    node: int | None = None
    properties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextParse:
    """The parse of a text.

    Attributes:
        size: the number of bytes of the text.
        legal: the number of bytes before the first illegal one.
        outcome: the result.
        trees: a tree of the legal bytes; two if there are two readings; none with a reason.
        may_end: whether the legal bytes are a complete match.
        attempts: of a refused text, what failed at the first illegal byte.
        more_attempts: how many of them are left out.
        reason: why there is no tree, or no search for a second one: a sentence; empty otherwise.
    """

    size: int = 0
    legal: int = 0
    outcome: ParseOutcome = ParseOutcome.BEGINNING
    trees: tuple[ParseTree, ...] = ()
    may_end: bool = False
    attempts: tuple[FailedAttempt, ...] = ()
    more_attempts: int = 0
    reason: str = ""

    @property
    def is_ambiguous(self) -> bool:
        """Return whether the text has two readings."""
        return len(self.trees) > 1


class AmbiguityVerdict(StrEnum):
    """The result of a search."""

    AMBIGUOUS = "ambiguous"  # a text has two readings
    UNAMBIGUOUS = "unambiguous"  # proved: no text has
    NOT_FOUND = "not found"  # no text up to a length has
    UNKNOWN = "unknown"  # there is a reason


@dataclass(frozen=True, slots=True)
class AmbiguityAnswer:
    """The answer of a search.

    Attributes:
        verdict: the result.
        text: a text with two readings; a shortest one unless the grammar has conditions.
        length: no shorter text, or no text up to this length, has two readings.
        reason: why the answer is not known, a sentence; empty otherwise.
    """

    verdict: AmbiguityVerdict
    text: bytes = b""
    length: int = 0
    reason: str = ""


def children_of(tree: Sequence[ParseNode], index: int) -> Iterator[int]:
    """Yield the indices of the nodes directly below a node."""
    end, at = end_of(tree, index), index + 1
    while at < end:
        yield at
        at = end_of(tree, at)


def end_of(tree: Sequence[ParseNode], index: int) -> int:
    """Return the index after the last node below a node."""
    below = tree[index].below
    return len(tree) if below is None else index + 1 + below


def parents_of(tree: Sequence[ParseNode]) -> list[int]:
    """Return the index of the parent of each node; -1 for the root."""
    parents: list[int] = []
    stack: list[int] = []
    for index in range(len(tree)):
        while stack and index >= end_of(tree, stack[-1]):
            stack.pop()
        parents.append(stack[-1] if stack else -1)
        stack.append(index)
    return parents


def own_ranges(tree: Sequence[ParseNode], size: int) -> Iterable[tuple[int, int, int]]:
    """Yield the bytes that belong to a node and to none below it, in order: the node's index, first byte, end.

    The ranges of a tree tile the bytes that it covers.

    Args:
        tree: the tree.
        size: the number of bytes that were read, where open nodes end.
    """
    stack: list[tuple[int, int, int]] = []  # index, end of its nodes, end of its bytes
    at = tree[0].start if tree else 0
    for index, node in enumerate(tree):
        while stack and index >= stack[-1][1]:
            above, _, end = stack.pop()
            if at < end:
                yield above, at, end
                at = end
        if stack and at < node.start:
            yield stack[-1][0], at, node.start
            at = node.start
        stack.append((index, end_of(tree, index), size if node.end is None else node.end))
    while stack:
        above, _, end = stack.pop()
        if at < end:
            yield above, at, end
            at = end
