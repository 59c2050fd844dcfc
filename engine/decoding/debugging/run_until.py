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
from engine.source.number_format import percent
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
        z: for `Z_BELOW`: the run stops when the allowed mass of the next step is below this, above 0 and at most 1.
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
            raise InvariantError(f"an allowed mass to fall below is above 0 and at most 1, not {self.z}")
        if self.count < 1:
            raise InvariantError(f"a run takes 1 token or more, not {self.count}")

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
    if until.needs_rule_events:
        return _of_rules(until, now)
    position, step = now.position, now.step
    match until.goal:
        case Goal.STATE if (until.name, until.state) in now.states:
            return f"The match came to {until.label or f'state {until.state}'}"
        case Goal.TOKEN if is_token(step, until):
            return f"The token {until.label or until.token or f'#{until.token_id}'} was taken"
        case Goal.Z_BELOW if position.finish is None and position.z is not None and position.z < until.z:
            return f"Z is {percent(position.z)}, below {percent(until.z)}: the model wants something else here"
        case Goal.EOS_LEGAL if may_end(position):
            return "The text may end here"
        case Goal.TOKENS if now.steps >= until.count:
            return "1 token was taken" if until.count == 1 else f"{until.count:,} tokens were taken"
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
        return f"The rule {until.name} is over" if until.name in passage.left else ""
    if until.goal is Goal.OVER:
        if passage.depth > now.depth:
            return ""
        return f"Stepped over {_rules(passage.left)}" if passage.left and now.steps > 1 else "Nothing was entered"
    if passage.depth >= now.depth:
        return ""
    return f"Stepped out of {_rules(passage.left)}"


def _rules(names: tuple[str, ...]) -> str:
    return " and ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "") or "the rule"
