"""A group of jobs that share one worker process.

In an exclusive group a new request replaces the older ones of its type: a newer text makes every earlier compile
pointless. A cancelled job first gets a request to stop; if it has begun and does not answer within the grace period,
the process is killed and restarted, and the other jobs are sent again. The grace period counts from the job's start,
never from its submission: a process that is still importing is not late.

A process that dies by itself is restarted too, unless it died recently: then the group waits for `restart`, and the
window offers a button. Its jobs are lost. So are those of a stateful process that is killed: what they would be applied
to is gone, and whoever listens to `died` sends the state again.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.catalogue import ui_text
from app.jobs.link import WorkerLink
from app.workers.loop import Handler
from app.workers.protocol import Began, Cancel, Cancelled, Failed, Reply, Submit
from engine.source.number_format import duration

_log = logging.getLogger(__name__)

_CRASH_LOOP_SECONDS = 20.0

KILLED_AFTER_GRACE = -1_000
"""The exit code that `JobGroup.died` reports for a process that was killed, since a cancelled job did not end."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of a job group.

    Attributes:
        exclusive: whether a request replaces the unfinished ones of its type.
        grace_ms: how long a cancelled job may continue before its process is killed.
        limit_ms: how long any job may take before it is cancelled; None for no limit.
        unlimited: types of requests without a time limit: the fallbacks for requests that were too slow.
        stateful: whether requests depend on the state that earlier ones left in the process.
    """

    exclusive: bool
    grace_ms: int
    limit_ms: int | None = None
    unlimited: tuple[type, ...] = ()
    stateful: bool = False


@dataclass(slots=True)
class _Job:
    request: Any
    begun: bool = False
    cancelled: bool = False


class JobGroup(QObject):
    """Sends requests to one worker process and reports their results.

    Signals:
        answered(request, answer): the job is done.
        reported(request, value): an intermediate message of a job, such as `Progress`.
        failed(request, Failed): the job hit a bug or its time limit.
        cancelled(request): a cancelled job ended without an answer.
        died(exit code, lost requests, restarted): the process is gone.
        changed(): the set of unfinished jobs changed.
    """

    answered = Signal(object, object)
    reported = Signal(object, object)
    failed = Signal(object, object)
    cancelled = Signal(object)
    died = Signal(int, object, bool)
    changed = Signal()

    def __init__(
        self, name: str, make_handler: Callable[[], Handler], policy: Policy, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.name = name
        self._policy = policy
        self._ids = itertools.count()
        self._jobs: dict[int, _Job] = {}
        self._last_death = -_CRASH_LOOP_SECONDS
        self._link = WorkerLink(name, make_handler, self)
        self._link.received.connect(self._on_received)
        self._link.died.connect(self._on_died)

    @property
    def pid(self) -> int | None:
        """Return the worker process's id; None if there is no process."""
        return self._link.pid

    @property
    def pending(self) -> tuple[Any, ...]:
        """Return the unfinished requests that are not cancelled, oldest first."""
        return tuple(job.request for job in self._jobs.values() if not job.cancelled)

    def start(self) -> None:
        """Start the process before the first request."""
        self._link.start()

    def submit(self, request: Any) -> None:
        """Send a request; its answer comes by signal."""
        if self._policy.exclusive:
            self.cancel(lambda older: type(older) is type(request))
        job_id = next(self._ids)
        self._jobs[job_id] = _Job(request)
        self._link.send(Submit(job_id, request))
        self.changed.emit()

    def cancel(self, matches: Callable[[Any], bool] = lambda _request: True) -> None:
        """Cancel the unfinished jobs whose request matches; all of them by default."""
        for job_id, job in list(self._jobs.items()):
            if not job.cancelled and matches(job.request):
                self._cancel(job_id, job)
        self.changed.emit()

    def restart(self) -> None:
        """Restart the process; unfinished jobs that are not cancelled are sent again."""
        _log.info("process %s is restarted", self.name)
        self._settle_cancelled()
        self._link.restart()
        self._resend()

    def close(self) -> None:
        """End the process and wait for its end."""
        self._jobs.clear()
        self._link.close()

    def _cancel(self, job_id: int, job: _Job) -> None:
        job.cancelled = True
        self._link.send(Cancel(job_id))
        if job.begun:
            QTimer.singleShot(self._policy.grace_ms, self, lambda: self._end_grace(job_id))

    def _end_grace(self, job_id: int) -> None:
        if job_id not in self._jobs:
            return
        if not self._policy.stateful:
            self.restart()
            return
        self._settle_cancelled()
        lost = self.pending
        self._jobs.clear()
        _log.error("process %s is killed, since a cancelled job does not end", self.name)
        self._link.restart()
        self.died.emit(KILLED_AFTER_GRACE, lost, True)
        self.changed.emit()

    def _on_received(self, message: Began | Reply) -> None:
        job = self._jobs.get(message.job_id)
        if job is None:
            return
        if isinstance(message, Began):
            self._on_began(message.job_id, job)
        elif not message.final:
            if not job.cancelled:
                self.reported.emit(job.request, message.value)
        else:
            del self._jobs[message.job_id]
            self._finish(job, message.value)
            self.changed.emit()

    def _on_began(self, job_id: int, job: _Job) -> None:
        job.begun = True
        if job.cancelled:
            QTimer.singleShot(self._policy.grace_ms, self, lambda: self._end_grace(job_id))
        elif self._policy.limit_ms is not None and not isinstance(job.request, self._policy.unlimited):
            QTimer.singleShot(self._policy.limit_ms, self, lambda: self._end_limit(job_id))

    def _end_limit(self, job_id: int) -> None:
        job = self._jobs.pop(job_id, None)
        if job is None:
            return
        self.restart()
        if not job.cancelled:
            limit = duration((self._policy.limit_ms or 0) / 1e3)
            summary = ui_text("session.lost.fragment.stopped_after", limit=limit)
            self.failed.emit(job.request, Failed(summary, f"{type(job.request).__name__}, {self.name}: {summary}"))
        self.changed.emit()

    def _finish(self, job: _Job, value: Any) -> None:
        if job.cancelled:
            self.cancelled.emit(job.request)
        elif isinstance(value, Failed):
            _log.error("%s failed in process %s", type(job.request).__name__, self.name)
            self.failed.emit(job.request, value)
        elif not isinstance(value, Cancelled):
            self.answered.emit(job.request, value)

    def _settle_cancelled(self) -> None:
        gone = [job_id for job_id, job in self._jobs.items() if job.cancelled]
        requests = [self._jobs.pop(job_id).request for job_id in gone]
        for request in requests:
            self.cancelled.emit(request)

    def _resend(self) -> None:
        for job_id, job in self._jobs.items():
            job.begun = False
            self._link.send(Submit(job_id, job.request))
        self.changed.emit()

    def _on_died(self, exit_code: int) -> None:
        lost = self.pending
        self._jobs.clear()  # one of them may have killed the process and would kill the next one
        now = time.monotonic()
        restarts = now - self._last_death > _CRASH_LOOP_SECONDS
        self._last_death = now
        kinds = ", ".join(type(request).__name__ for request in lost) or "nothing"
        _log.error("process %s died with exit code %s; under way: %s", self.name, exit_code, kinds)
        if restarts:
            self._link.start()
        self.died.emit(exit_code, lost, restarts)
        self.changed.emit()
