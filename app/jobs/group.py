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
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

from app.catalogue import ui_text
from app.jobs.link import WorkerLink
from app.workers.loop import Handler
from app.workers.protocol import (
    Began,
    Cancel,
    Cancelled,
    Failed,
    Message,
    Notice,
    Progress,
    Refusal,
    Submit,
    WorkerRequest,
)
from engine.source.number_format import duration

_log = logging.getLogger(__name__)

A = TypeVar("A")

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


class Loss(Enum):
    """Why a request has no answer: cancelled, a bug or the time limit, refused by the worker, or the process died."""

    CANCELLED = auto()
    FAILED = auto()
    REFUSED = auto()
    DIED = auto()


@dataclass(frozen=True, slots=True)
class LostRequest:
    """A request that gets no answer; `why` is a sentence for the user."""

    cause: Loss
    why: str


class PendingAnswer(Generic[A]):
    """A request that was sent, and the slots for its answer.

    Slots are called in the order in which they were added, and only as long as `receiver` exists.
    """

    def __init__(self, receiver: QObject) -> None:
        self._receiver = receiver
        self._then: list[Callable[[A], object]] = []
        self._reported: list[Callable[[Any], object]] = []
        self._progressed: list[Callable[[Progress], object]] = []
        self._failed: list[Callable[[Failed], object]] = []
        self._lost: list[Callable[[LostRequest], object]] = []
        self._fallback: WorkerRequest[A] | None = None

    def then(self, slot: Callable[[A], object]) -> PendingAnswer[A]:
        """Call a slot with the answer."""
        self._then.append(slot)
        return self

    def reported(self, slot: Callable[[Any], object]) -> PendingAnswer[A]:
        """Call a slot with each intermediate answer."""
        self._reported.append(slot)
        return self

    def progressed(self, slot: Callable[[Progress], object]) -> PendingAnswer[A]:
        """Call a slot with each report of progress."""
        self._progressed.append(slot)
        return self

    def failed(self, slot: Callable[[Failed], object]) -> PendingAnswer[A]:
        """Call a slot if the worker hits a bug or the time limit."""
        self._failed.append(slot)
        return self

    def otherwise(self, request: WorkerRequest[A]) -> PendingAnswer[A]:
        """Send another request for the same answer if the worker hits a bug or the time limit."""
        self._fallback = request
        return self

    def take_fallback(self) -> WorkerRequest[A] | None:
        """Return the request of `otherwise`, which is sent once; None if there is none."""
        fallback, self._fallback = self._fallback, None
        return fallback

    def lost(self, slot: Callable[[LostRequest], object]) -> PendingAnswer[A]:
        """Call a slot if there will be no answer."""
        self._lost.append(slot)
        return self

    def answer(self, value: A) -> None:
        """Deliver the answer."""
        self._deliver(self._then, value)

    def report(self, value: Any) -> None:
        """Deliver an intermediate answer."""
        self._deliver(self._reported, value)

    def progress(self, value: Progress) -> None:
        """Deliver a report of progress."""
        self._deliver(self._progressed, value)

    def fail(self, value: Failed) -> None:
        """Deliver a bug of the worker or an exceeded time limit."""
        self._deliver(self._failed, value)
        self.lose(Loss.FAILED)

    def lose(self, cause: Loss, why: str = "") -> None:
        """Report that there will be no answer; without a reason, the one that follows from the cause."""
        default = ui_text("session.lost.cancelled" if cause is Loss.CANCELLED else "session.lost.failed")
        self._deliver(self._lost, LostRequest(cause, why or default))

    def _deliver(self, slots: list[Callable[[Any], object]], value: Any) -> None:
        for slot in slots:
            if isValid(self._receiver):
                slot(value)


@dataclass(slots=True)
class _Job:
    request: WorkerRequest[Any]
    asked: PendingAnswer[Any]
    begun: bool = False
    cancelled: bool = False


class JobGroup(QObject):
    """Sends requests to one worker process and delivers their answers.

    Signals:
        progressed(request, Progress): how far a job is.
        failed(request, Failed): the job hit a bug or its time limit.
        refused(Refusal): a request cannot be served in the present state of the process.
        noticed(Notice): the process adds something to its last answer.
        died(exit code, lost requests, restarted): the process is gone.
        changed(): the set of unfinished jobs changed.
    """

    progressed = Signal(WorkerRequest, Progress)
    failed = Signal(WorkerRequest, Failed)
    refused = Signal(Refusal)
    noticed = Signal(Notice)
    died = Signal(int, tuple, bool)
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
    def pending(self) -> tuple[WorkerRequest[Any], ...]:
        """Return the unfinished requests that are not cancelled, oldest first."""
        return tuple(job.request for job in self._jobs.values() if not job.cancelled)

    def start(self) -> None:
        """Start the process before the first request."""
        self._link.start()

    def ask(self, request: WorkerRequest[A], receiver: QObject) -> PendingAnswer[A]:
        """Send a request; add the slots for its answer to the result.

        Args:
            request: a request that the group's handler knows.
            receiver: the object that the slots belong to; they are not called after its deletion.
        """
        asked = PendingAnswer[A](receiver)
        self._submit(request, asked)
        return asked

    def _submit(self, request: WorkerRequest[A], asked: PendingAnswer[A]) -> None:
        if self._policy.exclusive:
            self.cancel(lambda older: type(older) is type(request))
        job_id = next(self._ids)
        self._jobs[job_id] = _Job(request, asked)
        self._link.send(Submit(job_id, request))
        self.changed.emit()

    def cancel(self, matches: Callable[[WorkerRequest[Any]], bool] = lambda _request: True) -> None:
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
        """Kill the process unless the job has ended; on a busy machine its answer may wait to be read."""
        self._link.after_arrived(lambda: self._kill_for(job_id))

    def _kill_for(self, job_id: int) -> None:
        if job_id not in self._jobs:
            return
        if not self._policy.stateful:
            self.restart()
            return
        _log.error("process %s is killed, since a cancelled job does not end", self.name)
        lost = self._lose_all()
        self._link.restart()
        self.died.emit(KILLED_AFTER_GRACE, lost, True)
        self.changed.emit()

    def _on_received(self, message: Message) -> None:
        if isinstance(message, Notice):
            self.noticed.emit(message)
            return
        job = self._jobs.get(message.job_id)
        if job is None:
            return
        if isinstance(message, Began):
            self._on_began(message.job_id, job)
        elif not message.final:
            if job.cancelled:
                return
            if isinstance(message.value, Progress):
                job.asked.progress(message.value)
                self.progressed.emit(job.request, message.value)
            else:
                job.asked.report(message.value)
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
        if job.cancelled:
            job.asked.lose(Loss.CANCELLED)
        else:
            limit = duration((self._policy.limit_ms or 0) / 1e3)
            summary = ui_text("session.lost.fragment.stopped_after", limit=limit)
            self._fail(job, Failed(summary, f"{type(job.request).__name__}, {self.name}: {summary}"))
        self.changed.emit()

    def _finish(self, job: _Job, value: Any) -> None:
        if job.cancelled or isinstance(value, Cancelled):
            job.asked.lose(Loss.CANCELLED)
        elif isinstance(value, Failed):
            _log.error("%s failed in process %s", type(job.request).__name__, self.name)
            self._fail(job, value)
        elif isinstance(value, Refusal):
            job.asked.lose(Loss.REFUSED, value.error)
            self.refused.emit(value)
        else:
            job.asked.answer(value)

    def _fail(self, job: _Job, failed: Failed) -> None:
        fallback = job.asked.take_fallback()
        if fallback is not None:
            self._submit(fallback, job.asked)
        else:
            job.asked.fail(failed)
            self.failed.emit(job.request, failed)

    def _settle_cancelled(self) -> None:
        gone = [job_id for job_id, job in self._jobs.items() if job.cancelled]
        for job in [self._jobs.pop(job_id) for job_id in gone]:
            job.asked.lose(Loss.CANCELLED)

    def _lose_all(self) -> tuple[WorkerRequest[Any], ...]:
        """Forget all jobs, since the process is gone; return the requests that were not cancelled."""
        self._settle_cancelled()
        lost, self._jobs = list(self._jobs.values()), {}
        for job in lost:
            job.asked.lose(Loss.DIED)
        return tuple(job.request for job in lost)

    def _resend(self) -> None:
        for job_id, job in self._jobs.items():
            job.begun = False
            self._link.send(Submit(job_id, job.request))
        self.changed.emit()

    def _on_died(self, exit_code: int) -> None:
        lost = self._lose_all()  # one of them may have killed the process and would kill the next one
        now = time.monotonic()
        restarts = now - self._last_death > _CRASH_LOOP_SECONDS
        self._last_death = now
        kinds = ", ".join(type(request).__name__ for request in lost) or "nothing"
        _log.error("process %s died with exit code %s; under way: %s", self.name, exit_code, kinds)
        if restarts:
            self._link.start()
        self.died.emit(exit_code, lost, restarts)
        self.changed.emit()
