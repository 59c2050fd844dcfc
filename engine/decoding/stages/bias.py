"""Numbers that are added to logits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape
    from engine.vocabulary import Vocabulary


def _shape(values: Values, vocabulary: Vocabulary) -> Shape:
    from engine.decoding.processors.suppress import Bias  # start-up time: numpy

    return Bias(vocabulary, dict(_biases(values["bias"])))


def _biases(given: Iterable[tuple[str, float]]) -> Iterator[tuple[int | str, float]]:
    for text, value in given:
        if text.startswith("#") and text[1:].isdecimal():
            yield int(text[1:]), value
        else:
            yield text, value


STAGE = Stage(
    "bias",
    (Field("bias", "biases", (), "--bias", "the = +2\n#50 = -1"),),
    shape=_shape,
)
