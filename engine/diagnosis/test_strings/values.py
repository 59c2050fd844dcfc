"""Coverage and suggestions of a grammar's test strings, as values that the window receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from engine.decoding.values import NO_MASSES, Bounds, PackedMasses, StepMass
from engine.source import Span

TEXT_END: Final = -1
"""The target of an edge that is the end of the text."""


class CoverageSource(StrEnum):
    """The texts of a coverage."""

    TESTS = "tests"
    GENERATED = "generated"
    LOG = "log"


class CoverageMeasure(StrEnum):
    """The measure of a heat map."""

    VISITS = "visits"
    LOST = "lost"
    PRICE = "price"


@dataclass(frozen=True, slots=True)
class LostMass:
    """The probability that a grammar took away at some steps, and its price.

    Attributes:
        steps: the number of steps.
        known: how many of them have bounds; the others are in no sum.
        least, most: the sums of the bounds.
        token: the most probable token that was forbidden at one of them; empty if unknown.
        p: its probability.
        least_nats, most_nats: the sums of the bounds of -ln Z.
        worst: what one of them lost, at least; of no other one, that is more.
        output: the output of that step.
        at: the byte of the output at which its token begins.
    """

    steps: int = 0
    known: int = 0
    least: float = 0.0
    most: float = 0.0
    token: bytes = b""
    p: float = 0.0
    least_nats: float = 0.0
    most_nats: float = 0.0
    worst: float = 0.0
    output: bytes = b""
    at: int = 0

    @classmethod
    def of(cls, step: StepMass, count: int = 1, output: bytes = b"") -> LostMass:
        """Return what a step lost that was taken several times.

        Args:
            step: the step.
            count: the number of equal outputs.
            output: the output.
        """
        if not step.is_known:
            return cls(count)
        least_nats, most_nats = step.nats
        return cls(
            steps=count,
            known=count,
            least=count * step.least,
            most=count * step.most,
            token=step.token,
            p=step.p,
            least_nats=count * least_nats,
            most_nats=count * most_nats,
            worst=step.least,
            output=output,
            at=step.start,
        )

    def __add__(self, other: LostMass) -> LostMass:
        wanted = max(self, other, key=lambda one: one.p)
        worst = max(self, other, key=lambda one: one.worst)
        return LostMass(
            self.steps + other.steps,
            self.known + other.known,
            self.least + other.least,
            self.most + other.most,
            wanted.token,
            wanted.p,
            self.least_nats + other.least_nats,
            self.most_nats + other.most_nats,
            worst.worst,
            worst.output,
            worst.at,
        )

    @property
    def mean(self) -> Bounds | None:
        """Return bounds of the mean over the steps where something is known; None if there is no such step."""
        return Bounds(self.least / self.known, self.most / self.known) if self.known else None


@dataclass(frozen=True, slots=True)
class CountedText:
    """An output that counts for a coverage.

    Attributes:
        data: its bytes.
        count: how often there is one like it.
        masses: what its steps lost; empty if nothing is known of them.
    """

    data: bytes
    count: int = 1
    masses: PackedMasses = NO_MASSES


class EdgeKey(NamedTuple):
    """An edge: its rule's index, its two states, and the rule that it calls (empty for an edge over bytes)."""

    rule: int
    source: int
    target: int
    called: str = ""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule in a list: its name, its span, whether a text uses it, how many do, and what was lost in it."""

    name: str
    span: Span
    covered: bool
    texts: int = 0
    lost: LostMass = LostMass()


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of the grammar's text that reads, such as the value of a keyword, or a literal.

    Attributes:
        span: its span.
        name: its JSON Pointer in a schema, else its line, column and text.
        texts: how many texts the match of which was in it.
        lost: what was lost there.
    """

    span: Span
    name: str = ""
    texts: int = 0
    lost: LostMass = LostMass()


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
        weights: how often there is each text; empty if there are too many to say which of them use an edge.
        users: the texts that use an edge, as the bits of a number; likewise.
        whole_users: the same in the complete automaton.
        parts: the parts of the grammar's text that a text uses, in their order.
        lost: what was lost before the bytes that an edge reads; `TEXT_END` is the target of an end. A step of an
            ambiguous text is at all its edges.
        whole_lost: the same in the complete automaton.
        total: what was lost at all steps.
        unknown: how many texts have no steps.
        reason: why there is no coverage; else empty.
    """

    rules: tuple[RuleRow, ...] = ()
    edges: tuple[EdgeRow, ...] = ()
    total_edges: int = 0
    covered_edges: int = 0
    followed: int = 0
    left_out: int = 0
    whole: Mapping[tuple[int, int], int] | None = None
    weights: tuple[int, ...] = ()
    users: Mapping[EdgeKey, int] = field(default_factory=dict)
    whole_users: Mapping[tuple[int, int], int] = field(default_factory=dict)
    parts: tuple[PartRow, ...] = ()
    lost: Mapping[EdgeKey, LostMass] = field(default_factory=dict)
    whole_lost: Mapping[tuple[int, int], LostMass] = field(default_factory=dict)
    total: LostMass = LostMass()
    unknown: int = 0
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
