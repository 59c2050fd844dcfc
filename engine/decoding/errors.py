"""Errors of a decode session; each message says what the user can do."""

from __future__ import annotations

from engine.matching.explanation import Explanation
from engine.source import EngineError


class NotAllowedError(EngineError):
    """The grammar does not allow a token here.

    Attributes:
        explanation: the reason; `engine.diagnosis` turns it into prose.
    """

    def __init__(self, explanation: Explanation) -> None:
        super().__init__(f"the grammar does not allow this token here ({explanation.reason})")
        self.explanation = explanation

    def __reduce__(self) -> tuple[object, ...]:
        return NotAllowedError, (self.explanation,)


class DeadEndError(EngineError):
    """The text is not complete, and no token of the vocabulary continues it."""

    def __init__(self) -> None:
        super().__init__(
            "no token of this vocabulary continues the text, and the grammar does not accept it yet; "
            "go back, or change the grammar or the model"
        )


class FinishedError(EngineError):
    """A step was requested after the end."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the generation is over ({why}); go back or restart")
        self.why = why

    def __reduce__(self) -> tuple[object, ...]:
        return FinishedError, (self.why,)


class EmptyMaskError(DeadEndError):
    """A stage leaves no token.

    Attributes:
        stage: the name of the stage; empty if the processor runs without a pipeline.
        cause: why nothing is left.
        expected: what the stage would have accepted, in words; empty if it accepts nothing.
        row: the row of the batch; None in a session.
    """

    def __init__(self, stage: str, cause: str, expected: str = "", row: int | None = None) -> None:
        where = f"the stage `{stage}`" if stage else "this processor"
        of = "" if row is None else f" in row {row}"
        wants = f"; it expects {expected}" if expected else ""
        EngineError.__init__(self, f"{where} leaves no token{of}: {cause}{wants}")
        self.stage, self.cause, self.expected, self.row = stage, cause, expected, row

    def named(self, stage: str) -> EmptyMaskError:
        """Return the same error with a stage name."""
        return EmptyMaskError(stage, self.cause, self.expected, self.row)

    def __reduce__(self) -> tuple[object, ...]:
        return EmptyMaskError, (self.stage, self.cause, self.expected, self.row)


class RemovedError(EngineError):
    """A stage of the pipeline other than the grammar removes a token.

    Attributes:
        stage: the name of the stage.
        why: why it removes the token.
    """

    def __init__(self, stage: str, why: str) -> None:
        super().__init__(f"the stage `{stage}` does not allow this token here: {why}")
        self.stage, self.why = stage, why

    def __reduce__(self) -> tuple[object, ...]:
        return RemovedError, (self.stage, self.why)


class ZoneError(EngineError):
    """The grammar of a zone cannot be used.

    Attributes:
        number: the number of the zone; the main grammar is 1.
    """

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"the grammar of zone {number} {why}")
        self.number, self.why = number, why

    def __reduce__(self) -> tuple[object, ...]:
        return ZoneError, (self.number, self.why)
