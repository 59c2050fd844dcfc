"""A penalty for tokens that would continue a repetition (DRY), as llama.cpp defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape
    from engine.vocabulary import Vocabulary


def _shape(values: Values, vocabulary: Vocabulary) -> Shape:
    from engine.decoding.processors.penalties import Dry, read_breakers  # start-up time: numpy

    return Dry(
        vocabulary,
        values["dry_multiplier"],
        values["dry_base"],
        values["dry_allowed_length"],
        window=values["dry_window"],
        breakers=read_breakers(values["dry_breakers"]),
    )


def _check(values: Values) -> None:
    from engine.decoding.processors.penalties import read_breakers  # start-up time: numpy

    read_breakers(values["dry_breakers"])


STAGE = Stage(
    "dry",
    (
        Field("dry_multiplier", "number", 0.0, "--dry-multiplier", most=100, step=0.1, metavar="R"),
        Field("dry_base", "number", 1.75, "--dry-base", least=1, most=100, step=0.05, metavar="R"),
        Field("dry_allowed_length", "number", 2, "--dry-allowed-length", least=1, metavar="N"),
        Field("dry_window", "number", 0, "--dry-window", metavar="N"),
        Field("dry_breakers", "line", "", "--dry-breakers", '["\\n", ":", "\\"", "*"]'),
    ),
    shape=_shape,
    check=_check,
)
