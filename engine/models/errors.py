"""The exception of this package."""

from __future__ import annotations

from engine.source import EngineError


class ModelError(EngineError):
    """A model cannot be loaded, or cannot do what was requested.

    Attributes:
        message: one sentence: what failed, and what to do about it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def is_panic(error: BaseException) -> bool:
    """Return whether an exception is a panic of a Rust library, whose type cannot be imported."""
    return type(error).__name__ == "PanicException"
