"""A token automaton as a table of transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.decoding.stage import Field, Stage, Values

if TYPE_CHECKING:
    from engine.decoding.processors.mask_processor import RowMachine
    from engine.vocabulary import Vocabulary


def _machine(values: Values, vocabulary: Vocabulary) -> RowMachine[Any]:
    from engine.decoding.processors.dfa_table import DfaTable  # start-up time: numpy

    return DfaTable(values["table"].transitions, values["table"].initial, vocabulary=vocabulary)


STAGE = Stage(
    "table",
    (Field("table", "transitions", None, "--table", "1 1 2\n2 2 3\n3 3 1"),),
    machine=_machine,
    is_enough=True,
)
