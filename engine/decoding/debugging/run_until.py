"""How far a run goes: a goal, and the sentence that says that it was reached.

A run is one step after another, each of them seen; after each the goal is asked. So
a pause takes effect at once, and a goal needs nothing but what a step tells anyway.
Stepping over a rule and out of one are goals too (see `passage` for what they mean
where the match stands on many stacks).
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
    """What a run is to come to."""

    END = "end"  # the end of the generation
    OVER = "over"  # the rules that the next token opens are over
    OUT = "out"  # the innermost rule is over
    RULE_EXIT = "rule exit"  # a rule is over that was read
    STATE = "state"
    TOKEN = "token"  # noqa: S105 - no password
    Z_BELOW = "z below"  # the grammar takes nearly everything from the model
    EOS_LEGAL = "eos legal"  # the text may end
    TOKENS = "tokens"


NEEDS_PASSAGE = frozenset({Goal.OVER, Goal.OUT, Goal.RULE_EXIT})
"""The goals that ask what a step did to the rules."""


@dataclass(frozen=True, slots=True)
class RunUntil:
    """A goal with its number or name.

    Attributes:
        goal: what is to come about.
        name: the rule of `RULE_EXIT` (of a schema a JSON Pointer); the rule of a `STATE`, or empty.
        state: the number of a `STATE`.
        token_id: the `TOKEN`; -1 where it is told by its text.
        token: the text of the `TOKEN`, as it is or as it is shown, or the name of a special one.
        z: of `Z_BELOW`: the mass that the next step's allowed tokens must fall below, above 0 and at most 1.
        count: of `TOKENS`.
        label: how the token or the state is called.
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
    def needs_passage(self) -> bool:
        """Whether it asks what a step did to the rules."""
        return self.goal in NEEDS_PASSAGE


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a run has come to, after a step.

    Attributes:
        steps: how many it took.
        depth: how deep the rules were nested when it began; None before that is known.
        step: the last step.
        position: what stands before the next one.
        passage: what the last step did to the rules; None where nobody asked.
        states: the states of the drawn automaton that it came to.
    """

    steps: int
    depth: int | None
    step: Step
    position: Position
    passage: RuleEvents | None = None
    states: Collection[StateName] = ()


def reached(until: RunUntil, now: RunProgress) -> str:
    """Why a run stops here, as a sentence without its full stop; empty where it goes on.

    The end of the generation stops every run, and is not told here.
    """
    if until.needs_passage:
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
    """Whether a step took the token that is meant."""
    if not until.token:
        return step.token_id == until.token_id
    token = step.token or b""
    return until.token in (step.name, visible(token), token.decode("utf-8", "replace"))


def may_end(position: Position) -> bool:
    """Whether an end token is allowed; of a vocabulary without one, whether the text matches."""
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
