"""The rows of a batch as values, which the window and the command line show; nothing here judges."""

from __future__ import annotations

from dataclasses import dataclass

from engine.diagnosis.batch.entries import EntrySource
from engine.diagnosis.case import FinishReason
from engine.diagnosis.failures.diagnosis import Cause
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent, percent_between
from engine.vocabulary.visible import visible


@dataclass(frozen=True, slots=True)
class AllowedMass:
    """The probability of the tokens that a grammar allows before a token, or bounds of it.

    Attributes:
        index: the number of that token, from 0.
        least, most: the bounds, which are equal if it is known exactly.
    """

    index: int
    least: float
    most: float

    @property
    def text(self) -> str:
        """Return it in words."""
        return percent_between(self.least, self.most)


@dataclass(frozen=True, slots=True)
class WorstToken:
    """The least probable token of an output.

    Attributes:
        index: its number, from 0.
        token_id: its id; None if unknown.
        data: its bytes; empty if unknown.
        start: the byte of the output at which it begins.
        p: its probability.
    """

    index: int
    token_id: int | None
    data: bytes
    start: int
    p: float

    @property
    def text(self) -> str:
        """Return the token with its number and its probability."""
        token = visible(self.data) or f"#{self.token_id}"
        return catalogue_text("diagnosis.batch.fragment.worst", number=self.index + 1, token=token, p=percent(self.p))


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A request of a batch, judged.

    Attributes:
        name: its name.
        place: where it was found: a file, and perhaps a line of it.
        cause: the cause; None if it cannot be read.
        detail: the kind of the cause.
        sentence: the cause in one sentence, or why it cannot be read.
        finish: the reason for the end, as the server reported it.
        mass: the lowest allowed mass along the output; None if it is nowhere known.
        worst: the least probable token; None if no probability is known.
        is_masked: whether the probabilities are from behind the mask, so that the allowed mass is unknown.
        has_tokens: whether the tokens of the output are known, by ids or by log-probabilities.
        sources: where it is on the disk.
    """

    name: str
    place: str
    cause: Cause | None
    detail: str = ""
    sentence: str = ""
    finish: FinishReason = FinishReason.UNKNOWN
    mass: AllowedMass | None = None
    worst: WorstToken | None = None
    is_masked: bool = False
    has_tokens: bool = False
    sources: tuple[EntrySource, ...] = ()

    @property
    def cause_text(self) -> str:
        """Return the name of the cause, or that it cannot be read."""
        return cause_text(self.cause)


def cause_text(cause: Cause | None) -> str:
    """Return the name of a cause; None is that of what cannot be read."""
    return catalogue_text("diagnosis.batch.fragment.unreadable") if cause is None else str(cause)
