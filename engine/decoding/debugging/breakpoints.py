"""Breakpoints: what stops a run, and whether a step hits one.

A breakpoint is on a rule (in a schema, on a JSON Pointer), on a position in the source, on a state of the drawn
automaton, or on a condition.

- A source breakpoint (rule or position) stops a run *before* the token that enters it, as a debugger stops before a
  line runs. The token is drawn first, because what comes next is unknown before the draw: where a JSON value may begin,
  a breakpoint on `number` does not stop before a string. A token enters a rule if one of its bytes is the first byte
  read in the rule (see `rule_events`), even if its first bytes end what came before.
- A state breakpoint stops a run when the match has *reached* the state.
- A condition stops a run before the token with which it is met; see `condition`.

The module holds only values, so the window can import it. Whoever draws the states knows which ones the match reached.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from engine.decoding.debugging.condition import DrawnStep, RunCondition
from engine.decoding.debugging.conditions import CONDITIONS
from engine.decoding.values import Bounds, Step
from engine.source import InvariantError, Span

StateName = tuple[str, int]
"""A state of the drawn automaton: its rule (empty if there is one automaton for everything) and its number."""


class BreakpointKind(StrEnum):
    """The kind of thing that a breakpoint is on."""

    RULE = "rule"
    STATE = "state"
    POSITION = "position"


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One breakpoint.

    Attributes:
        kind: what it is on.
        name: the rule, or the JSON Pointer of a schema; for a state, its rule or empty.
        state: the number of the state; -1 without one.
        offset: the position in the source, in code points; -1 without one. For a rule it is only used for navigation.
        label: the name shown in lists.
        enabled: whether it stops a run.
    """

    kind: BreakpointKind
    name: str = ""
    state: int = -1
    offset: int = -1
    label: str = ""
    enabled: bool = True

    def is_same(self, other: StopPoint) -> bool:
        """Return whether both are on the same thing."""
        if not isinstance(other, Breakpoint) or self.kind is not other.kind:
            return False
        match self.kind:
            case BreakpointKind.RULE:
                return self.name == other.name
            case BreakpointKind.STATE:
                return (self.name, self.state) == (other.name, other.state)
            case BreakpointKind.POSITION:
                return self.offset == other.offset


@dataclass(frozen=True, slots=True)
class ConditionBreakpoint:
    """A breakpoint on a condition; there is at most one for each.

    Attributes:
        condition: the name of the condition.
        limit: its limit; a probability is between 0 and 1.
        enabled: whether it stops a run.
    """

    condition: str
    limit: float
    enabled: bool = True

    def __post_init__(self) -> None:
        if self.condition not in CONDITIONS:
            names = ", ".join(CONDITIONS.names)
            raise InvariantError("errors.decoding.condition.unknown", name=repr(self.condition), names=names)
        kind = self.kind
        if not kind.least <= self.limit <= kind.most:
            raise InvariantError(
                "errors.decoding.condition.limit",
                name=self.condition,
                value=self.limit,
                least=kind.least,
                most=kind.most,
            )

    @property
    def kind(self) -> RunCondition:
        """Return the condition."""
        return CONDITIONS[self.condition]

    def is_same(self, other: StopPoint) -> bool:
        """Return whether both are on the same condition."""
        return isinstance(other, ConditionBreakpoint) and self.condition == other.condition


StopPoint: TypeAlias = Breakpoint | ConditionBreakpoint
"""A breakpoint or a condition, either of which may stop a run."""


class MetCondition(NamedTuple):
    """A condition that a step meets, and its value there, or bounds of it."""

    breakpoint: ConditionBreakpoint
    value: Bounds


@dataclass(frozen=True, slots=True)
class RuleEvents:
    """The rules that the last token entered and left, as `engine.decoding.debugging.rule_events` computes them.

    Attributes:
        depth_before: the number of entered rules before the token, on the deepest stack.
        depth: the same number after it.
        open: the entered rules that may still continue, outermost first.
        entered: the rules in which the token read the first byte.
        left: the rules that ended.
        read: the source spans that read the token and did not read what came before it.
    """

    depth_before: int = 0
    depth: int = 0
    open: tuple[str, ...] = ()
    entered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    read: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class StopBefore:
    """The reason why a run stopped before a token.

    Attributes:
        step: the step that was drawn and not taken; the next step from the same position takes it.
        breakpoints: the breakpoints that its token enters.
        conditions: the conditions that it meets.
    """

    step: Step
    breakpoints: tuple[Breakpoint, ...]
    conditions: tuple[MetCondition, ...] = ()


def toggled(breakpoints: Iterable[Breakpoint], one: Breakpoint) -> tuple[Breakpoint, ...]:
    """Return the breakpoints with `one` added, or without the breakpoint that is on the same thing."""
    known = tuple(breakpoints)
    others = tuple(other for other in known if not other.is_same(one))
    return others if len(others) < len(known) else (*known, one)


def met_conditions(breakpoints: Iterable[StopPoint], drawn: DrawnStep) -> tuple[MetCondition, ...]:
    """Return the enabled conditions that a step meets, or may meet, before its token is taken."""
    conditions = (one for one in breakpoints if isinstance(one, ConditionBreakpoint) and one.enabled)
    values = ((one, one.kind.met_by(drawn, one.limit)) for one in conditions)
    return tuple(MetCondition(one, value) for one, value in values if value is not None)


def entered(breakpoints: Iterable[StopPoint], passage: RuleEvents) -> tuple[Breakpoint, ...]:
    """Return the enabled breakpoints on rules and source positions that a token enters.

    Args:
        breakpoints: breakpoints of all kinds.
        passage: what the token does to the rules.
    """
    on_source = (one for one in breakpoints if isinstance(one, Breakpoint))
    return tuple(one for one in on_source if one.enabled and _is_entered(one, passage))


def reached_states(breakpoints: Iterable[Breakpoint], states: Collection[StateName]) -> tuple[Breakpoint, ...]:
    """Return the enabled breakpoints on states of the drawn automaton that a step reached."""
    on_states = (one for one in breakpoints if one.enabled and one.kind is BreakpointKind.STATE)
    return tuple(one for one in on_states if (one.name, one.state) in states)


def _is_entered(one: Breakpoint, passage: RuleEvents) -> bool:
    match one.kind:
        case BreakpointKind.RULE:
            return one.name in passage.entered
        case BreakpointKind.POSITION:
            return any(one.offset in span for span in passage.read)
        case BreakpointKind.STATE:
            return False
