"""The nodes of a grammar: immutable, each with its span in the source.

A node describes a language over Unicode scalar values; the automata encode it
in UTF-8. Lazy quantifiers and capture groups do not change a language, so no
node represents them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from engine.grammar.charset import CharSet
from engine.source import InvariantError, Span, checkpoint

_NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Empty:
    """The empty string."""

    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Never:
    """The empty language: no string matches."""

    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point out of a set."""

    set: CharSet
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Sequence:
    """A concatenation of items."""

    items: tuple[Node, ...]
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Choice:
    """An alternation."""

    alternatives: tuple[Node, ...]
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition of between `minimum` and `maximum` times; None for no maximum."""

    node: Node
    minimum: int
    maximum: int | None
    span: Span = _NOWHERE

    def __post_init__(self) -> None:
        if self.minimum < 0 or (self.maximum is not None and self.maximum < self.minimum):
            raise InvariantError("errors.invariant.repetition", minimum=self.minimum, maximum=self.maximum)


@dataclass(frozen=True, slots=True)
class Lookaround:
    """A condition on the text around a position, which consumes nothing.

    Ahead: some prefix of the text that follows matches `node`. Behind: some suffix of
    the text that precedes does. Negated: none does. Anchors and word boundaries are
    built from lookarounds: at the start of the text, no character precedes.
    """

    node: Node
    ahead: bool
    negated: bool
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class RuleReference:
    """A reference to a rule by name."""

    name: str
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class TokenSet:
    """One token of the vocabulary, matched as a token and not by its bytes: GBNF's `<think>`, `<[123]>`, `!<think>`.

    Attributes:
        names: the names of tokens in the vocabulary, such as `<think>`.
        ids: token ids.
        negated: whether it matches any token except these.
    """

    names: tuple[str, ...]
    ids: tuple[int, ...]
    negated: bool
    span: Span = _NOWHERE


Node: TypeAlias = Empty | Never | Chars | Sequence | Choice | Repeat | Lookaround | RuleReference | TokenSet


@dataclass(frozen=True, slots=True)
class Rule:
    """A named part of a grammar.

    Attributes:
        span: the span of the name in its definition.
    """

    name: str
    node: Node
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules that refer to each other by name; a text matches if it matches the rule `start`.

    Every reference names a rule of the grammar.
    """

    rules: tuple[Rule, ...]
    start: str

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        if len(set(names)) != len(names) or self.start not in names:
            raise InvariantError("errors.invariant.start_rule")


EMPTY = Empty()
NEVER = Never()


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly in a node."""
    match node:
        case Sequence():
            return node.items
        case Choice():
            return node.alternatives
        case Repeat() | Lookaround():
            return (node.node,)
        case _:
            return ()


def parts(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes in it."""
    todo: list[Node] = [node]
    while todo:
        checkpoint()
        part = todo.pop()
        yield part
        todo += children(part)
