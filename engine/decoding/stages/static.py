"""A set of tokens for each position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.mask_processor import RowMachine
    from engine.vocabulary import Vocabulary


def _machine(values: Values, vocabulary: Vocabulary) -> RowMachine[Any]:
    from engine.decoding.processors.guide import StaticMask  # start-up time: numpy
    from engine.decoding.processors.pattern import fixed_sets  # as above

    return StaticMask(vocabulary, fixed_sets(vocabulary, values["static"]))


def _check(values: Values) -> None:
    from engine.decoding.processors.pattern import parse_pattern  # start-up time: numpy

    parse_pattern(values["static"])


STAGE = Stage(
    "static",
    (Field("static", "line", "", "--static", "LOWER{5} NEWLINE"),),
    machine=_machine,
    check=_check,
    is_enough=True,
)
