"""Why a token is or is not allowed, as data. `engine.diagnosis` turns it into prose."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.source import Span


class Reason(StrEnum):
    """The verdict on a token."""

    ALLOWED = "allowed"
    DEAD_BYTE = "dead byte"  # one of its bytes cannot stand there
    NO_BYTES = "no bytes"  # the id stands for no text
    SPECIAL = "special"  # a special token matches no text
    NOT_ACCEPTING = "not accepting"  # an end, where the grammar does not accept
    FINISHED = "finished"  # the generation is over
    UNKNOWN_ID = "unknown id"  # beyond the vocabulary


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happens to a token at a configuration.

    Attributes:
        reason: the verdict.
        token: its bytes; None where it has none.
        offset: the index of the byte at which it died; None unless `Reason.DEAD_BYTE`.
        expected: inclusive byte ranges that could stand there instead; for NOT_ACCEPTING, here.
        spans: the places in the source that the match stands at when it dies, or ends up at.
        accepting: whether the text could have ended where it died.
    """

    reason: Reason
    token: bytes | None
    offset: int | None = None
    expected: tuple[tuple[int, int], ...] = ()
    spans: tuple[Span, ...] = ()
    accepting: bool = False

    @property
    def allowed(self) -> bool:
        """Whether the token may come next."""
        return self.reason is Reason.ALLOWED
