"""Mirostat 1 and 2, as llama.cpp defines them: the surprise of the text stays near a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape
    from engine.vocabulary import Vocabulary


def _shape(values: Values, _vocabulary: Vocabulary) -> Shape:
    from engine.decoding.processors.truncation import Mirostat  # start-up time: numpy

    return Mirostat(values["mirostat"], values["mirostat_tau"], values["mirostat_eta"])


STAGE = Stage(
    "mirostat",
    (
        Field("mirostat", "number", 0, "--mirostat", most=2, metavar="VERSION"),
        Field("mirostat_tau", "number", 5.0, "--mirostat-tau", most=100, step=0.5, metavar="BITS"),
        Field("mirostat_eta", "number", 0.1, "--mirostat-eta", most=10, step=0.05, metavar="RATE"),
    ),
    shape=_shape,
)
