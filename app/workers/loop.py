"""The main loop of a worker process.

The process's main thread does one job after another. A second thread listens to the pipe, so that a cancel reaches a
running job, and so that the process ends at once when the window is gone: a closed pipe means a dead parent. A job may
have a part that is prepared in a thread of its own (a model that loads while the old one is in use); the rest of it is
done by the main thread, so that the answers leave in the order in which the handler's state changed.

A process that has had no job for a moment sends what its handler has to add to the last answer, until the next job
arrives. So the window needs no timer and no second request for it, and nothing of it delays an answer.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

from app.diagnostic_log import LogFile
from app.workers.protocol import (
    Began,
    Cancel,
    Cancelled,
    Failed,
    Message,
    Notice,
    Progress,
    Refusal,
    Reply,
    Sealed,
    WorkerRequest,
)
from engine.source import CancelledError, CancelToken, InvariantError

_log = logging.getLogger(__name__)

A = TypeVar("A")
B = TypeVar("B")
P = ParamSpec("P")
Emit = Callable[[Any], None]

_IDLE_SECONDS = 0.05  # after an answer: a user who holds a key, and a run, ask again sooner
_SWITCH_SECONDS = 0.001  # in which a cancel interrupts a job: it is read in two parts, each after a switch of threads
_NICENESS = 5  # the window's process has priority when cores are few


@dataclass(frozen=True, slots=True)
class Job:
    """Give a handler's method a token to check regularly, and a way to report.

    Attributes:
        cancel: says whether the job is cancelled.
        emit: receives intermediate answers.
    """

    cancel: CancelToken
    emit: Emit


_Decorator: TypeAlias = Callable[[Callable[P, B]], Callable[P, B]]


def handles(kind: type[WorkerRequest[A]]) -> _Decorator[P, A]:
    """Declare that a method, which takes a request of this type and its `Job`, returns the answer."""
    return partial(_declare, kind, False)


def handles_in_thread(kind: type[WorkerRequest[A]]) -> _Decorator[P, Callable[[], A]]:
    """Declare that a method begins a job in a thread beside other jobs, without the handler's state.

    It takes what a method of `handles` takes, and returns a function that the main thread calls for the answer.
    """
    return partial(_declare, kind, True)


def _declare(kind: type[WorkerRequest[Any]], in_thread: bool, method: Callable[P, B]) -> Callable[P, B]:
    method.__dict__["handles"] = kind, in_thread
    return method


class Handler:
    """The work of a job group; a plain object that tests call without any process.

    Args:
        parts: objects with further methods that are declared with `handles`.

    Attributes:
        methods: the method that answers each type of request.
    """

    def __init__(self, *parts: object) -> None:
        self.methods: dict[type[WorkerRequest[Any]], Callable[[Any, Job], Any]] = {}
        self._in_thread: set[type[WorkerRequest[Any]]] = set()
        for part in (self, *parts):
            for name, function in inspect.getmembers(type(part)):
                if hasattr(function, "handles"):
                    kind, in_thread = function.handles
                    if kind in self.methods:
                        raise InvariantError("errors.invariant.two_handlers", name=kind.__name__)
                    self.methods[kind] = getattr(part, name)
                    if in_thread:
                        self._in_thread.add(kind)

    def warm(self) -> None:
        """Load what the first job needs, in a thread beside the first jobs. By default there is nothing to load.

        Everything that jobs import must be imported with the handler's module, before there is a second thread (see
        `Sealed`).
        """
        return

    def notices(self, cancel: CancelToken) -> Iterator[Notice]:
        """Yield what there is to add to the last answer; by default nothing. Called while there are no jobs.

        Args:
            cancel: checked regularly, since the next job cancels it; then the notices are asked for again.
        """
        yield from ()

    def begins_in_thread(self, request: WorkerRequest[Any]) -> bool:
        """Return whether a request begins in a thread beside other jobs, so that `begin` returns the rest of it."""
        return type(request) in self._in_thread

    def begin(self, request: WorkerRequest[Any], job: Job) -> Any:
        """Call the method that handles a request.

        Raises:
            TypeError: there is none.
        """
        method = self.methods.get(type(request))
        if method is None:
            raise TypeError(f"{type(self).__name__} does not handle {type(request).__name__}")
        return method(request, job)

    def handle(self, request: WorkerRequest[A], cancel: CancelToken, emit: Emit) -> A | Refusal:
        """Do a job and return its answer.

        Args:
            request: a request of this group.
            cancel: checked regularly.
            emit: receives intermediate answers.
        """
        answer = self.begin(request, Job(cancel, emit))
        return cast("A", answer() if self.begins_in_thread(request) else answer)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A job that began beside others, and the function that returns its answer."""

    job_id: int
    finish: Callable[[], Any]


class _Loop:
    def __init__(self, connection: Connection, handler: Handler) -> None:
        self._connection = connection
        self._handler = handler
        self._jobs: queue.SimpleQueue[Sealed | _Prepared] = queue.SimpleQueue()
        self._tokens: dict[int, CancelToken] = {}
        self._idle_token = CancelToken()  # of the notices
        self._send_lock = threading.Lock()

    def listen(self) -> None:
        """Take commands from the pipe until it closes; then end the process."""
        while True:
            try:
                command = self._connection.recv()
            except (EOFError, OSError):
                os._exit(0)  # no window is left, and a job may never reach its next check
            if isinstance(command, Sealed):
                self._tokens[command.job_id] = CancelToken(self._progress_of(command.job_id))
                self._put(command)
            elif isinstance(command, Cancel) and (token := self._tokens.get(command.job_id)) is not None:
                token.cancel()

    def work(self) -> None:
        """Run jobs forever."""
        while True:
            job = self._next_job()
            if isinstance(job, _Prepared):
                self._finish(job.job_id, self._outcome(job.job_id, job.finish))
                continue
            try:
                request = job.open()
            except Exception as error:  # noqa: BLE001 - reported to the window, like a failure of the job itself
                _log.exception("a request cannot be read")
                self._tokens.pop(job.job_id, None)
                self._send(Reply(job.job_id, _failure(error), True))
                continue
            self._send(Began(job.job_id))
            token = self._tokens[job.job_id]
            if self._handler.begins_in_thread(request):
                arguments = job.job_id, request, token
                threading.Thread(target=self._begin, args=arguments, name=f"job-{job.job_id}", daemon=True).start()
            else:
                handle = partial(self._handler.handle, request, token, self._emit_of(job.job_id))
                self._finish(job.job_id, self._outcome(job.job_id, handle))

    def _put(self, job: Sealed | _Prepared) -> None:
        self._jobs.put(job)
        self._idle_token.cancel()

    def _next_job(self) -> Sealed | _Prepared:
        with contextlib.suppress(queue.Empty):
            return self._jobs.get(timeout=_IDLE_SECONDS)
        self._idle_token = CancelToken()
        if self._jobs.empty():  # otherwise the job may have come before the token
            try:
                for notice in self._handler.notices(self._idle_token):
                    self._send(notice)
            except CancelledError:
                pass
            except Exception:  # noqa: BLE001 - a bug there must not end the process, which holds the user's session
                _log.exception("the notices failed")
        return self._jobs.get()

    def _begin(self, job_id: int, request: Any, token: CancelToken) -> None:
        """Begin a job in a thread of its own; the main thread finishes it."""
        job = Job(token, self._emit_of(job_id))
        answer = self._outcome(job_id, lambda: _Prepared(job_id, self._handler.begin(request, job)))
        if isinstance(answer, _Prepared):
            self._put(answer)
        else:
            self._finish(job_id, answer)

    def _outcome(self, job_id: int, work: Callable[[], Any]) -> Any:
        """Return the result of a part of a job, or the message that it was cancelled or failed."""
        try:
            self._tokens[job_id].check()
            return work()
        except CancelledError:
            return Cancelled()
        except Exception as error:  # noqa: BLE001 - a bug in one job is reported to the window and affects no other job
            _log.exception("job %d failed", job_id)
            return _failure(error)

    def _finish(self, job_id: int, answer: Any) -> None:
        self._tokens.pop(job_id, None)
        self._send(Reply(job_id, answer, True))

    def _emit_of(self, job_id: int) -> Emit:
        return lambda value: self._send(Reply(job_id, value, False))

    def _progress_of(self, job_id: int) -> Callable[[str, int, int | None], None]:
        return lambda what, done, total: self._send(Reply(job_id, Progress(what, done, total), False))

    def _send(self, message: Message) -> None:
        with self._send_lock:
            try:
                self._connection.send(message)
            except (BrokenPipeError, ConnectionError):
                os._exit(0)


def _failure(error: Exception) -> Failed:
    return Failed(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def serve(connection: Connection, make_handler: Callable[[], Handler], log: LogFile | None = None) -> None:
    """Run a worker process: the target that `app.jobs` spawns.

    Args:
        connection: the pipe to the window.
        make_handler: runs before there is a second thread, so its module imports the packages that jobs and `warm`
            would otherwise import at once (see `Sealed`).
        log: the log file of this process.
    """
    if log is not None:
        with contextlib.suppress(OSError):
            log.open()
    with contextlib.suppress(ValueError, OSError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal ends the window, and thereby the workers
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.nice(_NICENESS)
    sys.setswitchinterval(_SWITCH_SECONDS)
    handler = make_handler()
    loop = _Loop(connection, handler)
    threading.Thread(target=loop.listen, daemon=True, name="listen").start()
    threading.Thread(target=handler.warm, daemon=True, name="warm").start()
    loop.work()
