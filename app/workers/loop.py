"""The main loop of a worker process.

The process's main thread does one job after another. A second thread listens to the pipe, so that a cancel reaches a
running job, and so that the process ends at once when the window is gone: a closed pipe means a dead parent. A job may
have a part that is prepared in a thread of its own (a model that loads while the old one is in use); the rest of it is
done by the main thread, so that the answers leave in the order in which the handler's state changed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol

from app.diagnostic_log import LogFile
from app.workers.protocol import Began, Cancel, Cancelled, Failed, Message, Progress, Reply, Sealed
from engine.source import CancelledError, CancelToken

_log = logging.getLogger(__name__)

Emit = Callable[[Any], None]

_NICENESS = 5  # the window's process has priority when cores are few


class Handler(Protocol):
    """The work of a job group; a plain object that tests call without any process."""

    def warm(self) -> None:
        """Load what the first job needs, in a thread beside the first jobs. By default there is nothing to load.

        Everything that jobs import must be imported with the handler's module, before there is a second thread (see
        `Sealed`).
        """
        return

    def prepares(self, request: Any) -> bool:
        """Return whether `prepare` is called for a request; by default for none."""
        return False

    def prepare(self, request: Any, cancel: CancelToken) -> Any:
        """Do the part of a job that needs no state, in a thread beside other jobs; return the request to handle then.

        Args:
            request: a request for which `prepares` is true.
            cancel: checked regularly.
        """
        return request

    def handle(self, request: Any, cancel: CancelToken, emit: Emit) -> Any:
        """Do a job and return its answer; `emit` sends intermediate answers.

        Args:
            request: a request of this group.
            cancel: checked regularly.
            emit: receives intermediate answers.
        """


@dataclass(frozen=True, slots=True)
class _Prepared:
    job_id: int
    request: Any


class _Loop:
    def __init__(self, connection: Connection, handler: Handler) -> None:
        self._connection = connection
        self._handler = handler
        self._jobs: queue.SimpleQueue[Sealed | _Prepared] = queue.SimpleQueue()
        self._tokens: dict[int, CancelToken] = {}
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
                self._jobs.put(command)
            elif isinstance(command, Cancel) and (token := self._tokens.get(command.job_id)) is not None:
                token.cancel()

    def work(self) -> None:
        """Run jobs forever."""
        while True:
            job = self._jobs.get()
            if isinstance(job, _Prepared):
                self._do(job.job_id, job.request)
                continue
            try:
                request = job.open()
            except Exception as error:  # noqa: BLE001 - reported to the window, like a failure of the job itself
                _log.exception("a request cannot be read")
                self._tokens.pop(job.job_id, None)
                self._send(Reply(job.job_id, _failure(error), True))
                continue
            self._send(Began(job.job_id))
            if self._handler.prepares(request):
                work = threading.Thread(target=self._prepare, args=(job.job_id, request), name=f"job-{job.job_id}")
                work.daemon = True
                work.start()
            else:
                self._do(job.job_id, request)

    def _prepare(self, job_id: int, request: Any) -> None:
        token = self._tokens[job_id]
        answer = self._outcome(job_id, lambda: _Prepared(job_id, self._handler.prepare(request, token)))
        if isinstance(answer, _Prepared):
            self._jobs.put(answer)
        else:
            self._finish(job_id, answer)

    def _do(self, job_id: int, request: Any) -> None:
        token = self._tokens[job_id]

        def emit(value: Any) -> None:
            self._send(Reply(job_id, value, False))

        self._finish(job_id, self._outcome(job_id, lambda: self._handler.handle(request, token, emit)))

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
    handler = make_handler()
    loop = _Loop(connection, handler)
    threading.Thread(target=loop.listen, daemon=True, name="listen").start()
    threading.Thread(target=handler.warm, daemon=True, name="warm").start()
    loop.work()
