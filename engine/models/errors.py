"""The error of this room."""

from __future__ import annotations

from engine.source import EngineError


class ModelError(EngineError):
    """A model that cannot be had, or cannot do what was asked of it.

    Attributes:
        message: one sentence: what failed, and what to do about it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
