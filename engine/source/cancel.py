"""Cooperative cancellation and progress, in one value that long work is handed.

Whoever begins the work does it within `cancel.at_work()`, and every loop below
whose length depends on the input calls `turn`. So a loop needs no parameter to
be stopped, and where nobody is at work `turn` does nothing.

Rejected: the token as a parameter. A compile goes through some forty functions
that would do nothing with it but pass it on. A flag of the process: two threads
that compile would stop each other; a context variable belongs to its thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from engine.source.errors import CancelledError

Progress = Callable[[str, int, int | None], None]

TURNS_PER_CHECK: Final = 256
"""So many turns pass before it is asked again whether the work should stop; a turn takes microseconds."""
TURNS_PER_REPORT: Final = 64 * TURNS_PER_CHECK
"""So many before progress is told again: a window reads each of them."""


class CancelToken:
    """Asks long work to stop, and hears how far it is.

    The worker calls `check` at points where stopping is safe and `report` where
    there is something to tell; whoever asked for the work calls `cancel`, from
    any thread.
    """

    def __init__(self, on_progress: Progress | None = None) -> None:
        self._event = threading.Event()
        self._on_progress = on_progress
        self._what = ""
        self._turns = 0
        self._next_check = TURNS_PER_CHECK
        self._next_report = TURNS_PER_REPORT

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

    def begin(self, what: str) -> None:
        """A stage of the work begins: turns are counted, and told of, as its."""
        self._what, self._turns = what, 0
        self._next_check, self._next_report = TURNS_PER_CHECK, TURNS_PER_REPORT
        self.report(what, 0)

    def _pause(self) -> None:
        self._next_check = self._turns + TURNS_PER_CHECK
        if self._turns >= self._next_report:
            self._next_report = self._turns + TURNS_PER_REPORT
            self.report(self._what, self._turns)
        else:
            self.check()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While this lasts, `turn` counts for this token, in this thread."""
        before = _AT_WORK.set(self)
        try:
            yield
        finally:
            _AT_WORK.reset(before)


_AT_WORK: ContextVar[CancelToken | None] = ContextVar("token of the work that this thread does", default=None)


def turn(cost: int = 1) -> None:
    """Count one turn of a loop for the work that is being done, or `cost` of them where a turn takes long.

    Raises:
        CancelledError: the work was asked to stop.
    """
    token = _AT_WORK.get()
    if token is not None:
        token._turns += cost  # noqa: SLF001 - a call more would double what a turn takes
        if token._turns >= token._next_check:  # noqa: SLF001
            token._pause()  # noqa: SLF001
