"""What a timeline tells of a step: the strips, each with its value, its words and its scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from app import theme
from app.display_text import count, duration, percent
from engine.decoding.values import FORCE, Step, Trace

Role = theme.Role


UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One strip.

    Attributes:
        name: what it shows.
        tip: the same in a sentence.
        value: of a step; None where it is not known.
        text: a value in words.
        role: its colour.
        least_top: the least end of its scale.
        is_logarithmic: whether the scale is.
    """

    name: str
    tip: str
    value: Callable[[Step], float | None]
    text: Callable[[float], str]
    role: Role
    least_top: float
    is_logarithmic: bool = False

    def height(self, value: float) -> float:
        """How high a value stands."""
        return math.log10(1 + value) if self.is_logarithmic else value


def _of_the_model(value: Callable[[Step], float | None]) -> Callable[[Step], float | None]:
    """A value that there is only where a model was asked."""
    return lambda step: value(step) if step.was_asked else None


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
    """The steps of the shown path."""
    nodes = {node.id: node.step for node in trace.nodes}
    return tuple(nodes[node_id] for node_id in trace.path)


def values_of(row: TimelineRow, steps: tuple[Step, ...], illegal: frozenset[int]) -> list[float | None]:
    """The values of a strip; None where one is not known.

    Args:
        row: the strip.
        steps: of the shown path.
        illegal: the indexes of those that the grammar does not allow. Behind one that nobody forced, nothing is known
            of steps that were not generated.
    """
    broken = min((index for index in illegal if steps[index].chosen_by != FORCE), default=len(steps))
    return [None if index > broken and not step.was_asked else row.value(step) for index, step in enumerate(steps)]


def worst_of(steps: tuple[Step, ...]) -> int | None:
    """The index of the step at which the grammar took most from the model, the first of equals; None without any."""
    told = [(step.z, index) for index, step in enumerate(steps) if step.was_asked]
    return min(told)[1] if told else None


def short(row: TimelineRow, value: float) -> str:
    """A value in words as short as a side has room for."""
    return row.text(value).replace(" tokens", "").replace(" token", "")
