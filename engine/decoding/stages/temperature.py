"""The temperature of the sampler; at 0 it is greedy."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape


def _sampler_shape(values: Values) -> Shape:
    from engine.decoding.processors.shaping import Temperature  # start-up time: numpy

    return Temperature(values["temperature"])


STAGE = Stage(
    "temperature",
    (
        Field(
            "temperature", "number", 1.0, "--temperature", most=inf, widget_bounds=(0.01, 5.0), step=0.05, metavar="T"
        ),
    ),
    sampler_shape=_sampler_shape,
)
