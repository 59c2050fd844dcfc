"""Tokens with at least a share of the best token's probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape


def _sampler_shape(values: Values) -> Shape:
    from engine.decoding.processors.shaping import MinP  # start-up time: numpy

    return MinP(values["min_p"])


STAGE = Stage(
    "min-p",
    (Field("min_p", "number", 0.0, "--min-p", most=1, step=0.01, metavar="P"),),
    sampler_shape=_sampler_shape,
)
