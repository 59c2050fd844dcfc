"""What every worker process may say; each group's own requests and answers have a module of their own.

All that crosses between the window and its worker processes is frozen and
picklable, and importing it loads neither torch nor numpy. A request captures all
that its work needs, so that no lock is ever held; its answer carries the revision
that it was made for, so that a late one is dropped.

The groups' values live in `compile_messages`, `decode_messages`, `judge_messages`
and `export_values`; the layout group's in `app.graph.layout.types`, which needs no Qt
either.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is; `total` is None where it is unknown."""

    what: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """A request failed in a way that its handler did not foresee: a bug, told with its traceback."""

    summary: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A request was cancelled before it had an answer."""
