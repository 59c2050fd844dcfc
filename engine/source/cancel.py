"""Cooperative cancellation, progress and the limit of work, counted in turns of loops.

Whoever begins the work does it within `cancel.at_work()` or `limited_work()`, and every
loop below whose length depends on the input calls `checkpoint`. So a loop needs no parameter to
be stopped, and where neither is in force `checkpoint` does nothing.

One turn is about a microsecond of processor time and at most a few hundred bytes of memory.
Costlier work counts as several turns. A limit of turns therefore bounds time and memory, and
the same input stops at the same turn on every machine.

Rejected: the token as a parameter. A compile goes through some forty functions
that would do nothing with it but pass it on. A flag of the process: two threads
that compile would stop each other; a context variable belongs to its thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Final

from engine.source.errors import CancelledError, LimitExceededError

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
        self._next_report = TURNS_PER_REPORT
        self.report(what, 0)

    def _advance(self, turns: int) -> None:
        """Count turns of the present stage, and check."""
        self._turns += turns
        if self._turns >= self._next_report:
            self._next_report = self._turns + TURNS_PER_REPORT
            self.report(self._what, self._turns)
        else:
            self.check()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While this lasts, `checkpoint` counts for this token, in this thread."""
        before = _AT_WORK.get()
        work = _Work(self, before.what, before.turns, before.limit) if before else _Work(self, "", 0, None)
        reset = _AT_WORK.set(work)
        try:
            yield
        finally:
            _AT_WORK.reset(reset)
            if before is not None:
                before.take_over(work.turns)


class _Work:
    """The turns of one piece of work.

    Attributes:
        token: what may stop it.
        what: its name in the message of a limit.
        turns: how many there were.
        limit: how many there may be; None for any number.
        next_check: the turn at which to look at the token and the limit again.
    """

    __slots__ = ("_told", "limit", "next_check", "token", "turns", "what")

    def __init__(self, token: CancelToken | None, what: str, turns: int, limit: int | None) -> None:
        self.token, self.what, self.turns, self.limit = token, what, turns, limit
        self._told = turns
        self.next_check = turns + TURNS_PER_CHECK

    def pause(self) -> None:
        """Look whether the work should stop.

        Raises:
            CancelledError: the token was cancelled.
            LimitExceededError: there were too many turns.
        """
        self.next_check = self.turns + TURNS_PER_CHECK
        if self.limit is not None and self.turns > self.limit:
            raise LimitExceededError(self.what, given=self.turns, limit=self.limit, name="work")
        if self.token is not None:
            turns, self._told = self.turns - self._told, self.turns
            self.token._advance(turns)  # noqa: SLF001 - of this module

    def take_over(self, turns: int) -> None:
        """Go on from a count of turns that was reached below."""
        self.turns = self._told = max(self.turns, turns)
        self.next_check = self.turns + TURNS_PER_CHECK


_AT_WORK: ContextVar[_Work | None] = ContextVar("work that this thread does", default=None)


class limited_work:  # noqa: N801 - it is used like a function; as one, it would cost a step a microsecond more
    """Bound the turns of what is done within it; where a limit is in force already, that one stays.

    Args:
        what: the work, as the message of the limit names it.
        limit: how many turns it may take.
    """

    __slots__ = ("_limit", "_reset", "_what")

    def __init__(self, what: str, limit: int) -> None:
        self._what, self._limit = what, limit
        self._reset: Token[_Work | None] | None = None

    def __enter__(self) -> None:
        outer = _AT_WORK.get()
        if outer is None or outer.limit is None:
            token = outer.token if outer is not None else None
            self._reset = _AT_WORK.set(_Work(token, self._what, 0, self._limit))

    def __exit__(self, *_: object) -> None:
        if self._reset is not None:
            _AT_WORK.reset(self._reset)


def is_work_limited() -> bool:
    """Return whether a limit of turns is in force, so that `limited_work` would change nothing."""
    work = _AT_WORK.get()
    return work is not None and work.limit is not None


def work_turns() -> int:
    """Return how many turns the present work has taken; 0 where nothing counts them."""
    work = _AT_WORK.get()
    return work.turns if work is not None else 0


def checkpoint(cost: int = 1) -> None:
    """Count one turn of a loop for the work that is being done, or `cost` of them where a turn takes long.

    Raises:
        CancelledError: the work was asked to stop.
        LimitExceededError: it takes more turns than it may.
    """
    work = _AT_WORK.get()
    if work is not None:
        work.turns += cost
        if work.turns >= work.next_check:
            work.pause()


def check_cancelled() -> None:
    """Raise `CancelledError` if the work of this thread was asked to stop; this counts no turn."""
    work = _AT_WORK.get()
    if work is not None and work.token is not None:
        work.token.check()
