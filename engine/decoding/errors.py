"""What a decode session refuses, each with what the user needs to go on."""

from __future__ import annotations

from engine.masking.explanation import Explanation
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
