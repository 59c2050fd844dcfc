"""Exclude top choices (XTC), as llama.cpp defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape
    from engine.vocabulary import Vocabulary


def _shape(values: Values, _vocabulary: Vocabulary) -> Shape:
    from engine.decoding.processors.truncation import Xtc  # start-up time: numpy

    return Xtc(values["xtc_probability"], values["xtc_threshold"])


STAGE = Stage(
    "xtc",
    (
        Field("xtc_probability", "number", 0.0, "--xtc-probability", most=1, step=0.05, metavar="P"),
        Field("xtc_threshold", "number", 0.1, "--xtc-threshold", most=1, step=0.05, metavar="P"),
    ),
    shape=_shape,
)
