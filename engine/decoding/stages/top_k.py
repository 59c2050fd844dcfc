"""The k most probable tokens."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape


def _sampler_shape(values: Values) -> Shape:
    from engine.decoding.processors.shaping import TopK  # start-up time: numpy

    return TopK(values["top_k"])


STAGE = Stage(
    "top-k",
    (Field("top_k", "number", 0, "--top-k", most=inf, widget_bounds=(0, 1_000_000), metavar="K"),),
    sampler_shape=_sampler_shape,
)
