"""Frequency and presence penalties, as the OpenAI interface, vLLM and llama.cpp define them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.shaping import Shape
    from engine.vocabulary import Vocabulary


def _shape(values: Values, _vocabulary: Vocabulary) -> Shape:
    from engine.decoding.processors.penalties import FrequencyPenalty  # start-up time: numpy

    return FrequencyPenalty(values["frequency_penalty"], values["presence_penalty"], values["penalty_window"])


STAGE = Stage(
    "frequency-penalty",
    (
        Field("frequency_penalty", "number", 0.0, "--frequency-penalty", least=-10, most=10, step=0.1, metavar="R"),
        Field("presence_penalty", "number", 0.0, "--presence-penalty", least=-10, most=10, step=0.1, metavar="R"),
        Field("penalty_window", "number", -1, "--penalty-window", least=-1, metavar="N"),
    ),
    shape=_shape,
)
