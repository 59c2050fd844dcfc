"""A prefix at which the masks of two engines differ, before anything explains it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parting:
    """A prefix that both engines accept, and after which they differ.

    Attributes:
        path: the token ids of the prefix.
        data: its bytes.
        gained, lost: the token ids that only the second, and only the first engine allows.
        failure: the message of an engine that fails there; empty if none does.
        failed: the index of that engine.
    """

    path: tuple[int, ...]
    data: bytes
    gained: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    failure: str = ""
    failed: int = 0
