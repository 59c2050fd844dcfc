"""The base classes of the exceptions that the engine raises deliberately. Any other exception is a bug."""

from __future__ import annotations


class EngineError(Exception):
    """The base class of the engine's exceptions."""


class InvariantError(EngineError):
    """An invariant of a value does not hold."""


class CancelledError(EngineError):
    """The work was cancelled with a `CancelToken`."""

    def __init__(self) -> None:
        super().__init__("cancelled")
