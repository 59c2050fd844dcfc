"""Classes of tokens and texts, in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.mask_processor import RowMachine
    from engine.vocabulary import Vocabulary


def _machine(values: Values, vocabulary: Vocabulary) -> RowMachine[Any]:
    from engine.decoding.processors.pattern import compile_pattern  # start-up time: numpy

    return compile_pattern(vocabulary, values["pattern"])


def _check(values: Values) -> None:
    from engine.decoding.processors.pattern import parse_pattern  # start-up time: numpy

    parse_pattern(values["pattern"])


STAGE = Stage(
    "pattern",
    (Field("pattern", "line", "", "--pattern", 'UPPER+ ":" " " LOWER+ NEWLINE'),),
    machine=_machine,
    check=_check,
    is_enough=True,
)
