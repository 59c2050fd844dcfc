"""Breakpoints: what stops a run, and whether a step hits one.

A breakpoint is on a rule (in a schema, on a JSON Pointer), on a position in the source, or on a state of the drawn
automaton.

- A source breakpoint (rule or position) stops a run *before* the token that enters it, as a debugger stops before a
  line runs. The token is drawn first, because what comes next is unknown before the draw: where a JSON value may begin,
  a breakpoint on `number` does not stop before a string. A token enters a rule if one of its bytes is the first byte
  read in the rule (see `rule_events`), even if its first bytes end what came before.
- A state breakpoint stops a run when the match has *reached* the state.

The module holds only values, so the window can import it. Whoever draws the states knows which ones the match reached.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from engine.decoding.values import Step
from engine.source import Span

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

    def is_same(self, other: Breakpoint) -> bool:
        """Return whether both are on the same thing."""
        if self.kind is not other.kind:
            return False
        match self.kind:
            case BreakpointKind.RULE:
                return self.name == other.name
            case BreakpointKind.STATE:
                return (self.name, self.state) == (other.name, other.state)
            case BreakpointKind.POSITION:
                return self.offset == other.offset


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
    """

    step: Step
    breakpoints: tuple[Breakpoint, ...]


def toggled(breakpoints: Iterable[Breakpoint], one: Breakpoint) -> tuple[Breakpoint, ...]:
    """Return the breakpoints with `one` added, or without the breakpoint that is on the same thing."""
    known = tuple(breakpoints)
    others = tuple(other for other in known if not other.is_same(one))
    return others if len(others) < len(known) else (*known, one)


def entered(breakpoints: Iterable[Breakpoint], passage: RuleEvents) -> tuple[Breakpoint, ...]:
    """Return the enabled breakpoints on rules and source positions that a token enters.

    Args:
        breakpoints: breakpoints of all kinds.
        passage: what the token does to the rules.
    """
    return tuple(one for one in breakpoints if one.enabled and _is_entered(one, passage))


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
