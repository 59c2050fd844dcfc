"""Common parts of walks over bytes and over tokens: how they end and are counted, and how a position is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.export.target import ExportJob

END_CHANCE: Final = 0.25
"""The probability that a walk stops where it may."""

SEED: Final = 0
"""Every check makes the same walks, so that a failure is reproducible."""

_SHOWN: Final = 60


def followed(job: ExportJob, walks: int, walk: Callable[[], int]) -> tuple[int, int]:
    """Run walks, each of which returns its number of steps; return their number and the sum of their steps.

    Args:
        job: the export job; receives progress.
        walks: the number of walks.
        walk: runs one walk.

    Raises:
        CancelledError: the job was cancelled.
    """
    total = 0
    for number in range(walks):
        job.cancel.report("Checking", number, walks)
        total += walk()
    return walks, total


def shown(text: bytes) -> str:
    """Return the end of the walked text for a message."""
    return repr(text) if len(text) <= _SHOWN else f"…{text[-_SHOWN:]!r}"
