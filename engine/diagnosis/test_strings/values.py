"""Coverage and suggestions of a grammar's test strings, as values that the window receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from engine.source import Span


class EdgeKey(NamedTuple):
    """An edge: its rule's index, its two states, and the rule that it calls (empty for an edge over bytes)."""

    rule: int
    source: int
    target: int
    called: str = ""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule in a list: its name, its span, whether a text uses it, and how many do."""

    name: str
    span: Span
    covered: bool
    texts: int = 0


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge in a list.

    Attributes:
        key: its key.
        rule: the name of its rule.
        ranges: the bytes that it reads; empty for a call.
        span: its source span; None if it has none.
        covered: whether a text uses it.
        texts: how many texts use it.
    """

    key: EdgeKey
    rule: str
    ranges: tuple[tuple[int, int], ...]
    span: Span | None
    covered: bool
    texts: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """What texts use of a grammar.

    Attributes:
        rules: all rules; empty if the grammar is one expression.
        edges: edges over bytes and calls (tokens matched by id are no text); if there are very many, only some unused
            ones.
        total_edges, covered_edges: the number of edges, and how many of them a text uses.
        followed: how many texts use something.
        left_out: how many texts were left out because they have too many derivations.
        whole: the transitions of the grammar's complete automaton that the texts take, source and target of each byte,
            with the number of the texts; None if it would equal the rules, or there is no complete automaton.
        reason: why there is no coverage; else empty.
    """

    rules: tuple[RuleRow, ...] = ()
    edges: tuple[EdgeRow, ...] = ()
    total_edges: int = 0
    covered_edges: int = 0
    followed: int = 0
    left_out: int = 0
    whole: Mapping[tuple[int, int], int] | None = None
    reason: str = ""

    @property
    def covered_rules(self) -> int:
        """The number of rules that a text uses."""
        return sum(rule.covered for rule in self.rules)


class SuggestionKind(StrEnum):
    """The purpose of a suggestion."""

    SHORTEST = "shortest"
    RANDOM = "random"
    RULE = "rule"
    EDGE = "edge"
    NEAR_MISS = "near miss"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested test string.

    Attributes:
        kind: its purpose.
        text: the text.
        accepts: whether the grammar accepts it.
        why: a short description.
    """

    kind: SuggestionKind
    text: str
    accepts: bool
    why: str
