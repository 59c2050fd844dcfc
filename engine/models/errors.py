"""The error of this package."""

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


def is_panic(error: BaseException) -> bool:
    """Return whether an exception is a panic of a library in Rust, whose type can be imported from no module."""
    return type(error).__name__ == "PanicException"
