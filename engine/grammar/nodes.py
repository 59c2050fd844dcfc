"""Grammar nodes: frozen, and each knows its place in the source.

A node describes a language over Unicode scalar values; the automata spell it
in UTF-8 bytes. Laziness and capture do not change a language, so no node
carries them.
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
    """No string at all."""

    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point out of a set."""

    set: CharSet
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Sequence:
    """One item after the other."""

    items: tuple[Node, ...]
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of the alternatives."""

    alternatives: tuple[Node, ...]
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Repeat:
    """Between `minimum` and `maximum` times; `None` is without end."""

    node: Node
    minimum: int
    maximum: int | None
    span: Span = _NOWHERE

    def __post_init__(self) -> None:
        if self.minimum < 0 or (self.maximum is not None and self.maximum < self.minimum):
            raise InvariantError(f"a repetition cannot run from {self.minimum} to {self.maximum}")


@dataclass(frozen=True, slots=True)
class Lookaround:
    """A condition on what surrounds a position; it consumes nothing.

    Ahead: some prefix of what follows matches `node`. Behind: some suffix of
    what precedes does. Negated: none does. Anchors and word boundaries are
    built from these: the start of the text is "nothing precedes".
    """

    node: Node
    ahead: bool
    negated: bool
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class RuleReference:
    """Whatever the rule of that name matches."""

    name: str
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class TokenSet:
    """One token of the vocabulary, taken whole: GBNF's `<think>`, `<[123]>` and their negation.

    Attributes:
        names: the token's own text, as its vocabulary names it, such as `<think>`.
        ids: token ids.
        negated: any token but these.
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
        span: of the name where it is defined.
    """

    name: str
    node: Node
    span: Span = _NOWHERE


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules that refer to each other by name; a match is a match of `start`.

    Every reference names a rule that is here.
    """

    rules: tuple[Rule, ...]
    start: str

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        if len(set(names)) != len(names) or self.start not in names:
            raise InvariantError("a grammar needs its start rule, and each rule once")


EMPTY = Empty()
NEVER = Never()


def parts(node: Node) -> Iterator[Node]:
    """A node and all nodes within it."""
    todo: list[Node] = [node]
    while todo:
        checkpoint()
        part = todo.pop()
        yield part
        match part:
            case Sequence():
                todo += part.items
            case Choice():
                todo += part.alternatives
            case Repeat() | Lookaround():
                todo.append(part.node)
