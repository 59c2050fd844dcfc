"""The verdict on a token, as data; `engine.matching.explanation_text` writes its sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
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
class StackVerdict:
    """What one of the stacks that a match stands on made of a token: how far it went and what it wanted there.

    Attributes:
        offset: the index of the byte that it could not read; None where it read all there was.
        expected: inclusive byte ranges that it could read there.
        accepting: whether the text could have ended there.
        rules: the names of its open rules, the innermost first; of a schema the JSON Pointers of what it is about.
        spans: the places in the source that it stood at.
        tokens: the token elements of the grammar that could stand there, as they are written.
        properties: of a JSON object, the names of the properties that could come there.
        other_properties: whether any other property could.
    """

    offset: int | None
    expected: tuple[tuple[int, int], ...] = ()
    accepting: bool = False
    rules: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    tokens: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    other_properties: bool = False


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
        tokens: the token elements of the grammar that could stand there instead, as they are written.
        stacks: the same for each stack by itself, those that went farthest first; empty where it is allowed.
        sentence: the whole verdict in plain English, one or more full sentences.
    """

    reason: Reason
    token: bytes | None
    offset: int | None = None
    expected: tuple[tuple[int, int], ...] = ()
    spans: tuple[Span, ...] = ()
    accepting: bool = False
    tokens: tuple[str, ...] = ()
    stacks: tuple[StackVerdict, ...] = ()
    sentence: str = field(default="", compare=False)  # it says nothing that the other fields do not

    @property
    def allowed(self) -> bool:
        """Whether the token may come next."""
        return self.reason is Reason.ALLOWED
