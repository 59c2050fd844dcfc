"""Conditions of breakpoints: a number that a step has before its token is taken, and a limit that the user sets.

A condition is met by a value on one side of its limit. Of a value that is known within bounds only, the bound on that
side counts, since nobody knows that the condition is not met; the sentence has the bounds. A condition that *lasts*
(few tokens left, a loop) stops a run where it begins to hold, and not at each token after that.

Declarations import no numpy: the window reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from engine.decoding.stage_texts import stage_key
from engine.decoding.values import Bounds, Step
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent, percent_between


@dataclass(frozen=True, slots=True)
class DrawnStep:
    """A step whose token is drawn, before it is taken.

    Attributes:
        step: the step.
        output: the bytes before it.
        left: the number of tokens that may still be taken, its own included.
        rank: returns the rank of its token among the model's, or bounds; None if the model was not queried.
        stacks: returns the number of stacks before it, or a lower bound that is larger than the argument.
    """

    step: Step
    output: bytes
    left: int
    rank: Callable[[], Bounds | None]
    stacks: Callable[[int], Bounds | None]


@dataclass(frozen=True, slots=True)
class RunCondition:
    """A kind of condition. A module under `conditions` has one such object, named `CONDITION`.

    Its texts are in the catalogue under `breakpoints.condition.NAME`, with `_` for `-`: `title` (before a limit),
    `tip`, and `fragment.met` (with its value and limit).

    Attributes:
        name: its name in documents, which is that of its module.
        default, least, most: the limit: what it is at first, and its bounds.
        value: returns the value at a step, given the limit, or bounds of it; None if it is unknown or there is none.
        is_below: whether it is met by a value below the limit; otherwise by one above it.
        is_share: whether values are probabilities; otherwise whole numbers.
        lasts: whether it stops a run only where it begins to hold.
        needs_model: whether there is no value with a tokenizer alone.
    """

    name: str
    default: float
    least: float
    most: float
    value: Callable[[DrawnStep, float], Bounds | None]
    is_below: bool = False
    is_share: bool = False
    lasts: bool = False
    needs_model: bool = False

    @property
    def title(self) -> str:
        """Return what it compares with its limit, such as `Allowed mass below`."""
        return self._text("title")

    @property
    def tip(self) -> str:
        """Return what it is, in a sentence."""
        return self._text("tip")

    def met_by(self, drawn: DrawnStep, limit: float) -> Bounds | None:
        """Return the value at a step, or its bounds, if it is or may be beyond the limit; None otherwise."""
        value = self.value(drawn, limit)
        if value is None or not (value.low < limit if self.is_below else value.high > limit):
            return None
        return value

    def limit_text(self, limit: float) -> str:
        """Return a limit in words."""
        return percent(limit) if self.is_share else f"{round(limit):,}"

    def met_text(self, value: Bounds, limit: float) -> str:
        """Return that a value meets it, as a part of a sentence."""
        return self._text("fragment.met", value=self._value_text(value), limit=self.limit_text(limit))

    def _value_text(self, value: Bounds) -> str:
        if self.is_share:
            return percent_between(*value)
        if value.low == value.high:
            return f"{round(value.low):,}"
        if value.high == inf:
            return catalogue_text("breakpoints.fragment.at_least", value=round(value.low))
        return catalogue_text("breakpoints.fragment.between", low=round(value.low), high=round(value.high))

    def _text(self, part: str, **values: str) -> str:
        return catalogue_text(f"breakpoints.condition.{stage_key(self.name)}.{part}", **values)
