"""Texts and tokens that are never written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.mask_processor import RowMachine
    from engine.vocabulary import Vocabulary


def _machine(values: Values, vocabulary: Vocabulary) -> RowMachine[Any]:
    from engine.decoding.processors.suppress import Suppress  # start-up time: numpy

    return Suppress(vocabulary, values["suppress"], values["suppress_ids"])


STAGE = Stage(
    "suppress",
    (Field("suppress", "texts", (), "--suppress", "e", companion="suppress_ids"),),
    machine=_machine,
)
