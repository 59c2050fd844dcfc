"""What walks over bytes and over tokens share: how they end, how they are counted, how a place is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.export.target import ExportJob

END_CHANCE: Final = 0.25
"""So often a walk stops where it may."""

SEED: Final = 0
"""Every check makes the same walks, so that what failed once fails again."""

_SHOWN: Final = 60


def followed(job: ExportJob, walks: int, walk: Callable[[], int]) -> tuple[int, int]:
    """Make so many walks, each of which says how many steps it had; how many, and all their steps.

    Raises:
        CancelledError: the job was cancelled.
    """
    total = 0
    for number in range(walks):
        job.cancel.report("Checking", number, walks)
        total += walk()
    return walks, total


def shown(text: bytes) -> str:
    """The end of what was walked, for a message."""
    return repr(text) if len(text) <= _SHOWN else f"…{text[-_SHOWN:]!r}"
