"""Messages of all worker processes; each group's own requests and answers have a module of their own.

All messages between the window and its workers are frozen and picklable, and importing them loads neither torch nor
numpy. A request contains everything that its work needs, so that no lock is ever held; its answer carries the revision
that it was computed for, so that a late one is dropped.

The groups' messages are in `compile_messages`, `decode_messages`, `judge_messages` and `export_messages`; those of the
layout group in `app.graph.layout.types`, which does not import Qt either.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a job; `total` is None if it is unknown."""

    what: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """A request failed in a way that its handler does not expect: a bug, with its traceback."""

    summary: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A request was cancelled before it had an answer."""
