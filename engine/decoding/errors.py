"""Errors of a decode session; each message says what the user can do."""

from __future__ import annotations

from engine.decoding.values import Unknown
from engine.matching.explanation import Explanation
from engine.source import EngineError
from engine.source.catalogue import catalogue_text


class NotAllowedError(EngineError):
    """The grammar does not allow a token here.

    Attributes:
        explanation: the reason; `engine.diagnosis` turns it into prose.
    """

    def __init__(self, explanation: Explanation) -> None:
        super().__init__("errors.decoding.not_allowed", reason=str(explanation.reason))
        self.explanation = explanation


class DeadEndError(EngineError):
    """The text is not complete, and no token of the vocabulary continues it."""

    def __init__(self) -> None:
        super().__init__("errors.decoding.dead_end")


class FinishedError(EngineError):
    """A step was requested after the end."""

    def __init__(self, why: str) -> None:
        super().__init__("errors.decoding.finished", why=why)
        self.why = why


class EmptyMaskError(DeadEndError):
    """A stage leaves no token.

    Attributes:
        stage: the name of the stage; empty if the processor runs without a pipeline.
        cause: why nothing is left.
        expected: what the stage would have accepted, in words; empty if it accepts nothing.
        row: the row of the batch; None in a session.
    """

    def __init__(self, stage: str, cause: str, expected: str = "", row: int | None = None) -> None:
        EngineError.__init__(
            self,
            "errors.decoding.empty_mask",
            where=catalogue_text("errors.decoding.fragment.stage", name=stage)
            if stage
            else catalogue_text("errors.decoding.fragment.processor"),
            row="" if row is None else catalogue_text("errors.decoding.fragment.row", row=row),
            cause=cause,
            expected=catalogue_text("errors.decoding.fragment.expected", expected=expected) if expected else "",
        )
        self.stage, self.cause, self.expected, self.row = stage, cause, expected, row

    def named(self, stage: str) -> EmptyMaskError:
        """Return the same error with a stage name."""
        return EmptyMaskError(stage, self.cause, self.expected, self.row)


class RemovedError(EngineError):
    """A stage of the pipeline other than the grammar removes a token.

    Attributes:
        stage: the name of the stage.
        why: why it removes the token.
    """

    def __init__(self, stage: str, why: str) -> None:
        super().__init__("errors.decoding.removed", stage=stage, why=why)
        self.stage, self.why = stage, why


class UnknownDrawError(EngineError):
    """A token cannot be drawn, since the source returned a part of its distribution.

    Args:
        name: the name of the source.
        unknown: what it leaves unknown.
        beyond: the stage that the source cannot apply, if it can draw.

    Attributes:
        stage: the stage that prevents the draw; empty if none does.
    """

    def __init__(self, name: str, unknown: Unknown, beyond: str = "") -> None:
        self.stage = beyond or unknown.stopped_at
        fields: dict[str, object] = {"name": name}
        if self.stage:
            fields["stage"] = self.stage
        if unknown.left:
            fields |= {"known": unknown.known, "size": unknown.known + unknown.left}
        key = "logits" if not unknown.left else "beyond" if beyond else "stage" if self.stage else "draw"
        super().__init__(f"errors.decoding.partial.{key}", **fields)


class ZoneError(EngineError):
    """The grammar of a zone cannot be used.

    The field `number` is the number of the zone; the main grammar is 1.
    """
