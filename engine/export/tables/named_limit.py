"""The name of the limit that an export may have raised, put into the error of whoever met it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.source import LimitExceededError


@contextmanager
def named_limit(name: str, limit: int) -> Iterator[None]:
    """Let an error about this limit say by which field of `Limits` it is raised."""
    try:
        yield
    except LimitExceededError as error:
        if error.name or error.limit != limit:
            raise
        raise LimitExceededError(error.what, given=error.given, limit=limit, name=name) from error
