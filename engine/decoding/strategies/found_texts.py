"""The texts that a search in the tree of prefixes has found; a window reads them without numpy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Measure(StrEnum):
    """The probability of an output that a search is about."""

    GIVEN = "given"
    LOCAL = "local"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text of the language.

    Attributes:
        text: the text.
        ids: its most probable token sequence.
        spellings: how many token sequences that write it were found; the probabilities are sums over these.
        p: the model's probability, without the grammar.
        p_local: its probability under local masking.
        p_given: bounds of the probability of these spellings, given that the model writes a text of the language.
    """

    text: bytes
    ids: tuple[int, ...]
    spellings: int
    p: float
    p_local: float
    p_given: tuple[float, float]

    def of(self, measure: Measure) -> float:
        """Return its probability by a measure; of bounds the lower one."""
        return {Measure.MODEL: self.p, Measure.LOCAL: self.p_local, Measure.GIVEN: self.p_given[0]}[measure]


@dataclass(frozen=True, slots=True)
class FoundTexts:
    """The result of a search, as far as it has come.

    Attributes:
        texts: the texts above the mass, the most probable first.
        p_grammar: bounds of the probability that the model alone writes a text of the language.
        left: how much of the measure the outputs that were not reached have together, at most.
        calls: the number of model calls.
        is_complete: whether every output above the mass is among the texts.
    """

    texts: tuple[FoundText, ...] = ()
    p_grammar: tuple[float, float] = (0.0, 1.0)
    left: float = 1.0
    calls: int = 0
    is_complete: bool = False
