"""Run goals: how far a run goes, and the sentence that reports that the goal was reached.

A run takes one visible step after another and checks the goal after each. So a pause takes effect at once, and a goal
needs only the data that a step reports anyway. "Step over" and "step out" are goals too (see `rule_events` for their
meaning on a set of stacks).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from engine.decoding.debugging.breakpoints import RuleEvents, StateName
from engine.decoding.values import EosState, Position, Step
from engine.source import InvariantError
from engine.source.catalogue import capitalised, catalogue_text
from engine.source.number_format import percent, percent_between
from engine.vocabulary.visible import visible


class Goal(StrEnum):
    """The event that ends a run."""

    END = "end"  # the end of the generation
    OVER = "over"  # the rules that the next token opens have ended
    OUT = "out"  # the innermost rule has ended
    RULE_EXIT = "rule exit"  # a given rule has ended after being entered
    STATE = "state"
    TOKEN = "token"  # noqa: S105 - no password
    Z_BELOW = "z below"  # the grammar removes nearly all probability mass
    EOS_LEGAL = "eos legal"  # the text may end here
    TOKENS = "tokens"


NEEDS_RULE_EVENTS = frozenset({Goal.OVER, Goal.OUT, Goal.RULE_EXIT})
"""The goals that need the rule events of a step."""


@dataclass(frozen=True, slots=True)
class RunUntil:
    """A goal with its parameters.

    Attributes:
        goal: the event to wait for.
        name: the rule of `RULE_EXIT` (a JSON Pointer for a schema); the rule of a `STATE`, or empty.
        state: the number of a `STATE`.
        token_id: the `TOKEN`; -1 if it is given by its text.
        token: the text of the `TOKEN`, raw or as displayed, or the name of a special token.
        z: for `Z_BELOW`: the run stops when the allowed mass of the next step is below this, or may be if it is not
            known; above 0 and at most 1.
        count: the number of tokens of `TOKENS`.
        label: the display name of the token or the state.
    """

    goal: Goal = Goal.END
    name: str = ""
    state: int = -1
    token_id: int = -1
    token: str = ""
    z: float = 0.01
    count: int = 10
    label: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.z <= 1:
            raise InvariantError("errors.decoding.run.mass", value=self.z)
        if self.count < 1:
            raise InvariantError("errors.decoding.run.count", count=self.count)

    @property
    def needs_rule_events(self) -> bool:
        """True if the goal needs the rule events of a step."""
        return self.goal in NEEDS_RULE_EVENTS


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The state of a run after a step.

    Attributes:
        steps: the number of steps so far.
        depth: the rule depth when the run began; None before it is known.
        step: the last step.
        position: the position before the next step.
        passage: the rule events of the last step; None if they were not requested.
        states: the states of the drawn automaton that the step reached.
    """

    steps: int
    depth: int | None
    step: Step
    position: Position
    passage: RuleEvents | None = None
    states: Collection[StateName] = ()


def reached(until: RunUntil, now: RunProgress) -> str:
    """Return why a run stops here, as a sentence without a full stop; empty if it continues.

    The end of the generation stops every run and is not reported here.
    """
    return capitalised(_goal_text(until, now))


def _goal_text(until: RunUntil, now: RunProgress) -> str:
    if until.needs_rule_events:
        return _of_rules(until, now)
    position, step = now.position, now.step
    match until.goal:
        case Goal.STATE if (until.name, until.state) in now.states:
            name = until.label or catalogue_text("decoding.run.state_number", number=until.state)
            return catalogue_text("decoding.run.state", name=name)
        case Goal.TOKEN if is_token(step, until):
            name = until.label or until.token or f"#{until.token_id}"
            return catalogue_text("decoding.run.token", name=name)
        case Goal.Z_BELOW if position.finish is None and (z := position.z_range) is not None and z.low < until.z:
            # A mass that may be below it counts, since nobody knows that it is not; the sentence says so.
            key = "z_below" if z.high < until.z else "z_may_be_below"
            return catalogue_text(f"decoding.run.{key}", z=percent_between(*z), limit=percent(until.z))
        case Goal.EOS_LEGAL if may_end(position):
            return catalogue_text("decoding.run.may_end")
        case Goal.TOKENS if now.steps >= until.count:
            return catalogue_text("decoding.run.tokens", count=until.count)
    return ""


def is_token(step: Step, until: RunUntil) -> bool:
    """Return whether a step took the goal's token."""
    if not until.token:
        return step.token_id == until.token_id
    token = step.token or b""
    return until.token in (step.name, visible(token), token.decode("utf-8", "replace"))


def may_end(position: Position) -> bool:
    """Return whether an EOS token is allowed; for a vocabulary without one, whether the text matches."""
    return position.eos is EosState.ALLOWED or (position.eos is EosState.NO_EOS and position.accepting)


def _of_rules(until: RunUntil, now: RunProgress) -> str:
    passage = now.passage
    if passage is None or now.depth is None:
        return ""
    if until.goal is Goal.RULE_EXIT:
        if until.name not in passage.left:
            return ""
        return catalogue_text("decoding.run.rule_exit", name=until.name)
    if until.goal is Goal.OVER:
        if passage.depth > now.depth:
            return ""
        if not passage.left or now.steps < 2:
            return catalogue_text("decoding.run.nothing_entered")
        return catalogue_text("decoding.run.over", rules=_rules(passage.left))
    if passage.depth >= now.depth:
        return ""
    return catalogue_text("decoding.run.out", rules=_rules(passage.left))


def _rules(names: tuple[str, ...]) -> str:
    if not names:
        return catalogue_text("decoding.run.the_rule")
    if len(names) == 1:
        return names[0]
    rules = catalogue_text("decoding.run.two_rules", first=names[0], second=names[1])
    return rules if len(names) == 2 else catalogue_text("decoding.run.more_rules", rules=rules, count=len(names) - 2)
