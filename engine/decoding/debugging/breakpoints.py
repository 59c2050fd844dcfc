"""Breakpoints: where a run should stop by itself, and whether it came there.

A breakpoint names what its author sees: a rule (of a schema: a JSON Pointer), a
state of the drawn automaton, or a place in the text. All of them are about what was
*read*, never about what merely might come next: where a JSON value may begin, a
breakpoint on `number` does not stop before a string (see `passage`).

Values only, so that the window may hold them; which states the match stands in, only
whoever draws them can tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from engine.source import Span

StateName = tuple[str, int]
"""A state of the drawn automaton: its rule, empty where there is one automaton for all; and its number."""


class BreakpointKind(StrEnum):
    """What a breakpoint is on."""

    RULE = "rule"
    STATE = "state"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One breakpoint.

    Attributes:
        kind: what it is on.
        name: the rule, or of a schema the JSON Pointer; of a state the rule that it belongs to, or empty.
        state: the number of the state; -1 without one.
        offset: the place in the source, in code points; -1 without one. Of a rule it is only where to look.
        label: how a list calls it.
        enabled: whether it stops a run.
    """

    kind: BreakpointKind
    name: str = ""
    state: int = -1
    offset: int = -1
    label: str = ""
    enabled: bool = True

    def is_same(self, other: Breakpoint) -> bool:
        """Whether both are on the same thing."""
        if self.kind is not other.kind:
            return False
        match self.kind:
            case BreakpointKind.RULE:
                return self.name == other.name
            case BreakpointKind.STATE:
                return (self.name, self.state) == (other.name, other.state)
            case BreakpointKind.PLACE:
                return self.offset == other.offset


@dataclass(frozen=True, slots=True)
class Passage:
    """What the last token did to the rules; `engine.decoding.debugging.passage` finds it out.

    Attributes:
        depth_before: how many rules were entered before it, on the deepest stack.
        depth: the same after it.
        open: the rules that are entered and may still go on, the outermost first.
        entered: those in which it read the first byte.
        left: those that are over since.
        read: the places in the source that read it, and did not read what came before it.
    """

    depth_before: int = 0
    depth: int = 0
    open: tuple[str, ...] = ()
    entered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    read: tuple[Span, ...] = ()


def toggled(breakpoints: Iterable[Breakpoint], one: Breakpoint) -> tuple[Breakpoint, ...]:
    """The breakpoints with another one, or without it where there is one on the same thing."""
    known = tuple(breakpoints)
    others = tuple(other for other in known if not other.is_same(one))
    return others if len(others) < len(known) else (*known, one)


def hits(
    breakpoints: Iterable[Breakpoint], passage: Passage, states: Collection[StateName] = ()
) -> tuple[Breakpoint, ...]:
    """The breakpoints that a step came to.

    Args:
        breakpoints: those that are not enabled are passed over.
        passage: what the step did.
        states: the states of the drawn automaton that it came to.
    """
    return tuple(one for one in breakpoints if one.enabled and _is_hit(one, passage, states))


def _is_hit(one: Breakpoint, passage: Passage, states: Collection[StateName]) -> bool:
    match one.kind:
        case BreakpointKind.RULE:
            return one.name in passage.entered
        case BreakpointKind.STATE:
            return (one.name, one.state) in states
        case BreakpointKind.PLACE:
            return any(one.offset in span for span in passage.read)
