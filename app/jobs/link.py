"""A worker process as the GUI thread sees it: sending does not wait, and messages arrive by queued signals.

Each incarnation of the process has two threads here. One starts the process, then blocks in `recv` and posts every
message to Qt's event queue; the other writes, because a full pipe blocks the writer. The GUI thread uses neither the
pipe nor `Process.start`, both of which can take tens of milliseconds.

The inbox is processed one message per iteration of the event loop. Qt handles posted events as long as there are any,
so a worker that answers while the window paints its last answer would otherwise delay the user's input.

Rejected: `QSocketNotifier` on the pipe (pipes are no sockets on Windows), `QProcess` (its child would not get
multiprocessing's pickled target), and a `concurrent.futures` pool (cannot cancel running jobs, nor survive a kill).
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from app.delays import delayed
from app.diagnostic_log import log_of
from app.workers.loop import Handler, serve
from app.workers.protocol import Submit
from engine.source.processes import spawn_context, start_process

_log = logging.getLogger(__name__)

CONTEXT = spawn_context()
"""How worker processes start: the same on every platform, and never as a fork of a Qt process."""

_JOIN_ATTEMPTS, _JOIN_SECONDS = 40, 0.05
_WRITER_SECONDS = 2.0
_NOT_STARTED = 126  # the exit code that a shell returns for a command that it cannot run


class _Incarnation:
    """One incarnation of a worker process, with its pipe and its two threads."""

    def __init__(
        self, name: str, make_handler: Callable[[], Handler], deliver: Callable[[_Incarnation, Any], None]
    ) -> None:
        self._ours, self._theirs = CONTEXT.Pipe(duplex=True)
        self._deliver = deliver
        arguments = self._theirs, make_handler, log_of(name)
        self._process = CONTEXT.Process(target=serve, args=arguments, name=name, daemon=True)
        self._lock = threading.Lock()  # the reader's thread starts and joins the process, any thread may kill it
        self._running = False
        self._ended = threading.Event()
        self.pid: int | None = None
        self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name=f"{name}-reader", daemon=True)
        self._writer = threading.Thread(target=self._write, name=f"{name}-writer", daemon=True)
        self._writer.start()  # first, since the reader finally waits for it
        self._reader.start()

    def send(self, message: Any) -> None:
        """Queue a message for the process."""
        self._outbox.put(message)

    def end(self) -> None:
        """Kill the process now and drop its messages; does not wait."""
        self._ended.set()
        if self._lock.acquire(blocking=False):  # otherwise it is being started, and the reader's thread kills it
            try:
                if self._running:
                    self._process.kill()
            finally:
                self._lock.release()
        self._outbox.put(None)

    @property
    def is_over(self) -> bool:
        """Return whether process and threads have ended, and the descriptors are closed."""
        return not (self._reader.is_alive() or self._writer.is_alive())

    def join(self, timeout: float) -> None:
        """Wait until process and threads have ended."""
        self._reader.join(timeout)
        self._writer.join(timeout)

    def _read(self) -> None:
        try:
            exit_code = self._receive_all()
        except OSError as error:  # no process, descriptor or memory is left to start one
            _log.warning("process %s cannot be started: %s", self._process.name, error)
            exit_code = _NOT_STARTED
        self._outbox.put(None)
        if not self._ended.is_set():
            self._deliver(self, _Death(exit_code))
        self._theirs.close()
        self._writer.join(_WRITER_SECONDS)
        if not self._writer.is_alive():  # if it still writes, the descriptor number may already belong to another file
            self._ours.close()

    def _receive_all(self) -> int:
        """Start the process, deliver its messages until it ends, and release it; return its exit code."""
        with self._lock:
            if self._ended.is_set():
                return 0
            start_process(self._process)
            self._running, self.pid = True, self._process.pid
            _log.info("process %s started as %s", self._process.name, self.pid)
        if self._ended.is_set():
            self._process.kill()
        self._theirs.close()  # otherwise our own copy would keep the pipe open after the process's death
        with contextlib.suppress(EOFError, OSError):
            while True:
                # A grandchild can hold the pipe open, so wait for the process's own end, too.
                if self._ours not in wait([self._ours, self._process.sentinel]):
                    break
                message = self._ours.recv()
                if self._ended.is_set():
                    break
                self._deliver(self, message)
        if not self._ended.is_set():
            self._process.kill()  # the process closed the pipe, so it cannot be used any more
        return self._reap()

    def _reap(self) -> int:
        """Wait for the end of the process, close its descriptors and return its exit code."""
        # multiprocessing polls all children whenever one starts. If another thread's poll reaps this one, a `join` here
        # returns before that thread has stored the exit code, so check repeatedly.
        for _ in range(_JOIN_ATTEMPTS):
            self._process.join(_JOIN_SECONDS)
            if self._process.exitcode is not None:
                break
        exit_code = self._process.exitcode or 0
        with self._lock:
            self._running = False
            with contextlib.suppress(ValueError):  # its exit code is still missing; the garbage collector closes it
                self._process.close()
        return exit_code

    def _write(self) -> None:
        while (message := self._outbox.get()) is not None:
            try:
                self._ours.send(message.sealed() if isinstance(message, Submit) else message)
            except (OSError, ValueError):
                return  # the reader notices the same death and reports it


class _Death:
    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code


class _Call:
    def __init__(self, then: Callable[[], object]) -> None:
        self.then = then


class WorkerLink(QObject):
    """A restartable worker process; messages of earlier incarnations are dropped."""

    received = Signal(object)
    died = Signal(int)
    _arrived = Signal(_Incarnation, object)

    def __init__(self, name: str, make_handler: Callable[[], Handler], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._make_handler = make_handler
        self._incarnation: _Incarnation | None = None
        self._retired: list[_Incarnation] = []
        self._is_closed = False
        self._inbox: deque[tuple[_Incarnation, Any]] = deque()
        self._timer = delayed(self, 0, self._take_one)
        self._arrived.connect(self._on_arrived, Qt.ConnectionType.QueuedConnection)

    @property
    def pid(self) -> int | None:
        """Return the process's id; None if there is no process."""
        return self._incarnation.pid if self._incarnation else None

    @property
    def is_alive(self) -> bool:
        """Return whether a process is running or starting."""
        return self._incarnation is not None

    def start(self) -> None:
        """Start the process unless there is one."""
        if self._incarnation is None and not self._is_closed:
            self._incarnation = _Incarnation(self._name, self._make_handler, self._deliver)

    def send(self, message: Any) -> None:
        """Send a message; starts the process if there is none."""
        self.start()
        if self._incarnation is not None:
            self._incarnation.send(message)

    def after_arrived(self, then: Callable[[], object]) -> None:
        """Call a function once all messages that have arrived by now are delivered; not if the process is gone then."""
        if self._incarnation is not None:
            self._deliver(self._incarnation, _Call(then))

    def restart(self) -> None:
        """Kill the process and start another."""
        self._retire()
        self.start()

    def close(self, timeout: float = 2.0) -> None:
        """End the process for good and wait for its end, at most `timeout` seconds."""
        self._is_closed = True
        self._timer.stop()
        self._inbox.clear()
        self._retire()
        for incarnation in self._retired:
            incarnation.join(timeout)
        self._retired.clear()

    def _retire(self) -> None:
        self._retired = [incarnation for incarnation in self._retired if not incarnation.is_over]
        if self._incarnation is not None:
            self._incarnation.end()
            self._retired.append(self._incarnation)
            self._incarnation = None

    def _deliver(self, incarnation: _Incarnation, message: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the window may be deleted before its threads end
            self._arrived.emit(incarnation, message)

    def _on_arrived(self, incarnation: _Incarnation, message: Any) -> None:
        self._inbox.append((incarnation, message))
        self._timer.start()

    def _take_one(self) -> None:
        incarnation, message = self._inbox.popleft()
        if self._inbox:
            self._timer.start()
        if incarnation is not self._incarnation:
            return
        if isinstance(message, _Death):
            self._retired.append(incarnation)
            self._incarnation = None
            self.died.emit(message.exit_code)
        elif isinstance(message, _Call):
            message.then()
        else:
            self.received.emit(message)
