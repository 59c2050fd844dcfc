"""What is told of a grammar's test strings: coverage and suggestions, as values that cross to the window."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from engine.source import Span


@dataclass(frozen=True, slots=True)
class ExpectedText:
    """A test string, and whether the grammar should accept it."""

    text: str
    accepts: bool = True


class EdgeKey(NamedTuple):
    """An edge: its rule's index, the states that it joins, and the rule that it calls (empty for one over bytes)."""

    rule: int
    source: int
    target: int
    called: str = ""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule, for a list: its name, where it stands, and whether a text uses it."""

    name: str
    span: Span
    covered: bool


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge, for a list.

    Attributes:
        key: which one.
        rule: the name of its rule.
        ranges: the bytes that it reads; none where it calls a rule.
        span: where in the grammar it stands; None where nobody wrote it.
        covered: whether a text uses it.
    """

    key: EdgeKey
    rule: str
    ranges: tuple[tuple[int, int], ...]
    span: Span | None
    covered: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """What some texts use of a grammar.

    Attributes:
        rules: all rules; none where the grammar is one expression.
        edges: edges over bytes and calls, since tokens taken whole are no text; of very many only some that are not
            used.
        total_edges, covered_edges: how many there are, and how many of them a text uses.
        followed: how many texts use something.
        left_out: how many were not, for they have too many derivations.
        whole: the states of the grammar's whole automaton that the texts pass, source and target of each byte; None
            where it has no rules that it could be told apart from, or no whole automaton.
        reason: why nothing is told; empty where it is.
    """

    rules: tuple[RuleRow, ...] = ()
    edges: tuple[EdgeRow, ...] = ()
    total_edges: int = 0
    covered_edges: int = 0
    followed: int = 0
    left_out: int = 0
    whole: frozenset[tuple[int, int]] | None = None
    reason: str = ""

    @property
    def covered_rules(self) -> int:
        """How many rules a text uses."""
        return sum(rule.covered for rule in self.rules)


class SuggestionKind(StrEnum):
    """What a suggestion is for."""

    SHORTEST = "shortest"
    RANDOM = "random"
    RULE = "rule"
    EDGE = "edge"
    NEAR_MISS = "near miss"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text to test with.

    Attributes:
        kind: what it is for.
        text: the text.
        accepts: what the grammar does with it.
        why: a few words about it.
    """

    kind: SuggestionKind
    text: str
    accepts: bool
    why: str
