"""Cooperative cancellation, progress, and limits of work, which is counted in iterations of loops ("turns").

A caller runs the work inside `cancel.scope()` or `limited_work()`, and every loop whose
length depends on the input calls `checkpoint`. So loops need no parameter to be stopped,
and outside such a scope `checkpoint` does nothing.

One turn takes about a microsecond of processor time and at most a few hundred bytes of
memory. Costlier work counts as several turns. So a limit of turns bounds time and memory,
and the same input stops at the same turn on every machine.

Rejected: the token as a parameter. A compile calls some forty functions that would only
pass it on. A flag of the process: two threads that compile would stop each other; a
context variable belongs to its thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import lru_cache, wraps
from typing import Final, Generic, ParamSpec, TypeVar, cast

from engine.source.catalogue import catalogue_text
from engine.source.errors import CancelledError, TimeUpError
from engine.source.limits import LimitExceededError

Progress = Callable[[str, int, int | None], None]
_P = ParamSpec("_P")
_R = TypeVar("_R")

TURNS_PER_CHECK: Final = 256
"""The number of turns between two checks whether the work should stop."""
TURNS_PER_REPORT: Final = 64 * TURNS_PER_CHECK
"""The number of turns between two reports of progress, each of which a window processes."""


class CancelToken:
    """A token that cancels long work and receives its progress.

    The worker calls `check` where stopping is safe and `report` when there is
    progress; the owner of the token calls `cancel`, from any thread.
    """

    def __init__(self, on_progress: Progress | None = None) -> None:
        self._event = threading.Event()
        self._on_progress = on_progress
        self._what = ""
        self._turns = 0
        self._next_report = TURNS_PER_REPORT
        self._deadline: float | None = None

    def cancel(self) -> None:
        """Request that the work stop at its next check."""
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        """Return whether `cancel` was called, or the time is up."""
        return self._event.is_set() or self._is_late

    @property
    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def check(self) -> None:
        """Raise `CancelledError` if the work was cancelled, `TimeUpError` if the time is up."""
        if self._event.is_set():
            raise CancelledError
        if self._is_late:
            raise TimeUpError

    @contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        """Limit the time of the work that is done while the context lasts; an earlier limit stays in force.

        Args:
            seconds: the limit; None for none.
        """
        before = self._deadline
        if seconds is not None:
            self._deadline = min(time.monotonic() + seconds, before or float("inf"))
        try:
            yield
        finally:
            self._deadline = before

    def report(self, what: str, done: int, total: int | None = None) -> None:
        """Report progress, then check.

        Args:
            what: the stage of the work: a key of the catalogue that begins with `progress.`, or a text.
            done: how much is done.
            total: how much there is to do; None if that is not known.
        """
        if self._on_progress is not None:
            self._on_progress(catalogue_text(what) if what.startswith("progress.") else what, done, total)
        self.check()

    def begin(self, what: str) -> None:
        """Begin a stage of the work; turns are counted anew and reported under its name."""
        self._what, self._turns = what, 0
        self._next_report = TURNS_PER_REPORT
        self.report(what, 0)

    def _advance(self, turns: int) -> None:
        """Count turns of the current stage, and check."""
        self._turns += turns
        if self._turns >= self._next_report:
            self._next_report = self._turns + TURNS_PER_REPORT
            self.report(self._what, self._turns)
        else:
            self.check()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Make `checkpoint` count for this token, in this thread, while the context lasts."""
        outer = _CURRENT_WORK.get()
        work = _Work(self, outer.what, outer.turns, outer.limit) if outer else _Work(self, "", 0, None)
        reset = _CURRENT_WORK.set(work)
        try:
            yield
        finally:
            _CURRENT_WORK.reset(reset)
            if outer is not None:
                outer.take_over(work.turns)


class _Work:
    """The turn counter of one piece of work.

    Attributes:
        token: the token that may cancel it.
        what: the key of the name of the work in the message of a limit; empty if there is no limit.
        turns: the number of turns so far.
        limit: the largest number of turns; None for no limit.
        next_check: the turn at which to check the token and the limit again.
    """

    __slots__ = ("_reported", "limit", "next_check", "token", "turns", "what")

    def __init__(self, token: CancelToken | None, what: str, turns: int, limit: int | None) -> None:
        self.token, self.what, self.turns, self.limit = token, what, turns, limit
        self._reported = turns
        self.next_check = turns + TURNS_PER_CHECK

    def pause(self) -> None:
        """Check whether the work should stop.

        Raises:
            CancelledError: the token was cancelled.
            LimitExceededError: the limit of turns was exceeded.
        """
        self.next_check = self.turns + TURNS_PER_CHECK
        if self.limit is not None and self.turns > self.limit:
            raise LimitExceededError(self.what, given=self.turns, limit=self.limit, name="work")
        if self.token is not None:
            turns, self._reported = self.turns - self._reported, self.turns
            self.token._advance(turns)  # noqa: SLF001 - a class of this module

    def take_over(self, turns: int) -> None:
        """Continue with the count of turns that an inner scope reached."""
        self.turns = self._reported = max(self.turns, turns)
        self.next_check = self.turns + TURNS_PER_CHECK


_CURRENT_WORK: ContextVar[_Work | None] = ContextVar("work that this thread does", default=None)


class limited_work:  # noqa: N801 - used like a function; a generator function would cost a microsecond more per step
    """A context manager that limits the turns of work; inside another limit, the outer limit stays in force.

    Args:
        what: the key of the name of the work in the message of the limit.
        limit: the largest number of turns.
    """

    __slots__ = ("_limit", "_reset", "_what")

    def __init__(self, what: str, limit: int) -> None:
        self._what, self._limit = what, limit
        self._reset: Token[_Work | None] | None = None

    def __enter__(self) -> None:
        outer = _CURRENT_WORK.get()
        if outer is None or outer.limit is None:
            token = outer.token if outer is not None else None
            self._reset = _CURRENT_WORK.set(_Work(token, self._what, 0, self._limit))

    def __exit__(self, *_: object) -> None:
        if self._reset is not None:
            _CURRENT_WORK.reset(self._reset)


def is_work_limited() -> bool:
    """Return whether a limit of turns is in force; if so, `limited_work` changes nothing."""
    work = _CURRENT_WORK.get()
    return work is not None and work.limit is not None


def work_turns() -> int:
    """Return how many turns the current work has taken; 0 outside a scope that counts them."""
    work = _CURRENT_WORK.get()
    return work.turns if work is not None else 0


def checkpoint(cost: int = 1) -> None:
    """Count one turn of a loop, or `cost` turns if it takes long, and regularly check whether to stop.

    Raises:
        CancelledError: the work was cancelled.
        LimitExceededError: the limit of turns was exceeded.
    """
    work = _CURRENT_WORK.get()
    if work is not None:
        work.turns += cost
        if work.turns >= work.next_check:
            work.pause()


def check_cancelled() -> None:
    """Raise `CancelledError` if the work of this thread was cancelled, without counting a turn."""
    work = _CURRENT_WORK.get()
    if work is not None and work.token is not None:
        work.token.check()


def counted_cache(maxsize: int | None = None) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Cache the results of a function, and count its turns each time.

    A result from the cache counts as many turns as it took to compute. So a limit stops the same input at the same
    turn, whatever the process computed before.

    Args:
        maxsize: the largest number of cached results; None for no limit.

    Returns:
        A decorator for functions with hashable arguments.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        def compute(*args: _P.args, **kwargs: _P.kwargs) -> _CountedResult[_R]:
            reset = None if _CURRENT_WORK.get() else _CURRENT_WORK.set(_Work(None, "", 0, None))
            before = work_turns()
            try:
                result = function(*args, **kwargs)
                return _CountedResult(result, work_turns() - before)
            finally:
                if reset is not None:
                    _CURRENT_WORK.reset(reset)

        computed = cast("Callable[_P, _CountedResult[_R]]", lru_cache(maxsize)(compute))

        @wraps(function)
        def cached(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            found = computed(*args, **kwargs)
            if found.is_new:
                found.is_new = False  # its turns were counted while it was computed
            else:
                checkpoint(found.turns)
            return found.result

        return cached

    return decorate


class _CountedResult(Generic[_R]):
    """A result, and how many turns it took to compute."""

    __slots__ = ("is_new", "result", "turns")

    def __init__(self, result: _R, turns: int) -> None:
        self.result, self.turns, self.is_new = result, turns, True
