"""The smallest set of tokens whose probability reaches p."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape


def _sampler_shape(values: Values) -> Shape:
    from engine.decoding.processors.shaping import TopP  # start-up time: numpy

    return TopP(values["top_p"])


STAGE = Stage(
    "top-p",
    (
        Field(
            "top_p",
            "number",
            1.0,
            "--top-p",
            open_below=True,
            most=1,
            widget_bounds=(0.01, 1.0),
            step=0.05,
            metavar="P",
        ),
    ),
    sampler_shape=_sampler_shape,
)
