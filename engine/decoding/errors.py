"""What a decode session refuses, each with what the user needs to go on."""

from __future__ import annotations

from engine.matching.explanation import Explanation
from engine.source import EngineError


class NotAllowedError(EngineError):
    """The grammar does not allow a token here.

    Attributes:
        explanation: why; `engine.diagnosis` turns it into prose.
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
    """A step was asked for after the end."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the generation is over ({why}); go back or restart")
        self.why = why

    def __reduce__(self) -> tuple[object, ...]:
        return FinishedError, (self.why,)


class EmptyMaskError(DeadEndError):
    """A stage leaves no token.

    Attributes:
        stage: its name; empty where the processor runs by itself.
        cause: why nothing is left.
        expected: what the stage would have taken, in words; empty where it would have taken nothing.
        row: the row of the batch; None in a session.
    """

    def __init__(self, stage: str, cause: str, expected: str = "", row: int | None = None) -> None:
        where = f"the stage `{stage}`" if stage else "this processor"
        of = "" if row is None else f" in row {row}"
        wants = f"; it expects {expected}" if expected else ""
        EngineError.__init__(self, f"{where} leaves no token{of}: {cause}{wants}")
        self.stage, self.cause, self.expected, self.row = stage, cause, expected, row

    def named(self, stage: str) -> EmptyMaskError:
        """The same error of a stage with a name."""
        return EmptyMaskError(stage, self.cause, self.expected, self.row)

    def __reduce__(self) -> tuple[object, ...]:
        return EmptyMaskError, (self.stage, self.cause, self.expected, self.row)


class RemovedError(EngineError):
    """A stage of the pipeline, other than the grammar, does not leave a token.

    Attributes:
        stage: its name.
        why: what it has against the token.
    """

    def __init__(self, stage: str, why: str) -> None:
        super().__init__(f"the stage `{stage}` does not allow this token here: {why}")
        self.stage, self.why = stage, why

    def __reduce__(self) -> tuple[object, ...]:
        return RemovedError, (self.stage, self.why)


class ZoneError(EngineError):
    """The grammar of a zone cannot be used.

    Attributes:
        number: of the zone; the grammar's own is 1.
    """

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"the grammar of zone {number} {why}")
        self.number, self.why = number, why

    def __reduce__(self) -> tuple[object, ...]:
        return ZoneError, (self.number, self.why)
