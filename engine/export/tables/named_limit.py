"""The name of the limit that a user can raise, added to the error that reports it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.source import LimitExceededError


@contextmanager
def named_limit(name: str, limit: int) -> Iterator[None]:
    """Add the field of `Limits` that raises this limit to its error."""
    try:
        yield
    except LimitExceededError as error:
        if error.name or error.limit != limit:
            raise
        raise LimitExceededError(error.what, given=error.given, limit=limit, name=name) from error
