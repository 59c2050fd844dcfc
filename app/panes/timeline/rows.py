"""The strips of a timeline: the value of a step in each, its text, and its scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from app import theme
from app.display_text import count, duration, percent
from engine.decoding.values import Step, StepOrigin, Trace

Role = theme.Role


UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One strip.

    Attributes:
        name: what it shows.
        tip: the same in a sentence.
        value: the value of a step; None if unknown.
        text: a value in words.
        role: its colour.
        least_top: the smallest end of its scale.
        is_logarithmic: whether the scale is logarithmic.
    """

    name: str
    tip: str
    value: Callable[[Step], float | None]
    text: Callable[[float], str]
    role: Role
    least_top: float
    is_logarithmic: bool = False

    def height(self, value: float) -> float:
        """Return the height of a value on the scale."""
        return math.log10(1 + value) if self.is_logarithmic else value


def _of_the_model(value: Callable[[Step], float | None]) -> Callable[[Step], float | None]:
    """Restrict a value to steps at which the model was called."""
    return lambda step: value(step) if step.was_queried else None


ROWS = (
    TimelineRow(
        "Z",
        "The allowed mass: the probability that the model gave to the allowed tokens",
        _of_the_model(lambda step: step.z),
        percent,
        Role.BAR_MASKED,
        1.0,
    ),
    TimelineRow(
        "Entropy",
        "How undecided the model was, before the mask, in nats",
        _of_the_model(lambda step: step.entropy),
        lambda value: f"{value:.2f} nats",
        Role.HINT,
        0.5,
    ),
    TimelineRow(
        "Allowed",
        "How many tokens the grammar allowed; the scale is logarithmic",
        lambda step: float(step.allowed),
        lambda value: count(round(value), "token"),
        Role.ACCENT,
        10.0,
        is_logarithmic=True,
    ),
    TimelineRow(
        "Mask",
        "How long the mask took; the scale is logarithmic",
        lambda step: step.mask_us,
        lambda value: duration(value / 1e6),
        Role.LIVE,
        10.0,
        is_logarithmic=True,
    ),
)


def steps_of(trace: Trace) -> tuple[Step, ...]:
    """Return the steps of the shown path."""
    nodes = {node.id: node.step for node in trace.nodes}
    return tuple(nodes[node_id] for node_id in trace.path)


def values_of(row: TimelineRow, steps: tuple[Step, ...], illegal: frozenset[int]) -> list[float | None]:
    """Return the values of a strip; None for an unknown one.

    Args:
        row: the strip.
        steps: the steps of the shown path.
        illegal: the indices of the illegal steps. After one that the user did not force, nothing is known of steps that
            were not generated.
    """
    broken = min((index for index in illegal if steps[index].origin != StepOrigin.FORCED_BY_USER), default=len(steps))
    return [None if index > broken and not step.was_queried else row.value(step) for index, step in enumerate(steps)]


def worst_of(steps: tuple[Step, ...]) -> int | None:
    """Return the index of the step at which the grammar removed most of the model's mass; None without any."""
    masses = [(step.z, index) for index, step in enumerate(steps) if step.was_queried]
    return min(masses)[1] if masses else None


def short(row: TimelineRow, value: float) -> str:
    """Return a value in words that fit at the side of a strip."""
    return row.text(value).replace(" tokens", "").replace(" token", "")
