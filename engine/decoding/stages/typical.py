"""Tokens whose surprise is close to the entropy, as transformers and llama.cpp (`typ_p`) define them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape
    from engine.vocabulary import Vocabulary


def _shape(values: Values, _vocabulary: Vocabulary) -> Shape:
    from engine.decoding.processors.truncation import Typical  # start-up time: numpy

    return Typical(values["typical_p"])


STAGE = Stage(
    "typical",
    (Field("typical_p", "number", 1.0, "--typical-p", open_below=True, most=1, step=0.05, metavar="P"),),
    shape=_shape,
)
