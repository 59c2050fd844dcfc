"""Lower logits of the tokens that occurred, of all of them or of the last N."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape


def _sampler_shape(values: Values) -> Shape:
    from engine.decoding.processors.shaping import RepetitionPenalty  # start-up time: numpy

    return RepetitionPenalty(values["repetition_penalty"], values["repetition_window"])


STAGE = Stage(
    "repetition-penalty",
    (
        Field(
            "repetition_penalty",
            "number",
            1.0,
            "--repetition-penalty",
            open_below=True,
            most=inf,
            widget_bounds=(0.1, 3.0),
            step=0.05,
            metavar="R",
        ),
        Field("repetition_window", "number", 0, "--repetition-window", most=inf, widget_bounds=(0, 1_000_000)),
    ),
    sampler_shape=_sampler_shape,
    applies_if_greedy=True,
)
