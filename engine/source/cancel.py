"""Cooperative cancellation and progress, in one value that long work is handed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from engine.source.errors import CancelledError

Progress = Callable[[str, int, int | None], None]


class CancelToken:
    """Asks long work to stop, and hears how far it is.

    The worker calls `check` at points where stopping is safe and `report` where
    there is something to tell; whoever asked for the work calls `cancel`, from
    any thread.
    """

    def __init__(self, on_progress: Progress | None = None) -> None:
        self._event = threading.Event()
        self._on_progress = on_progress

    def cancel(self) -> None:
        """Ask the work to stop at its next check."""
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `CancelledError` if the work was asked to stop."""
        if self._event.is_set():
            raise CancelledError

    def report(self, what: str, done: int, total: int | None = None) -> None:
        """Tell how far the work is (`total` is None where it is unknown), then check."""
        if self._on_progress is not None:
            self._on_progress(what, done, total)
        self.check()
