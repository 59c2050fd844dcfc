"""A handler for worker processes that does what a test tells it to. A module of its own, so that a child finds it."""

import os
import signal
import threading
import time
from dataclasses import dataclass

from app.workers.loop import Handler, handles, handles_in_thread
from app.workers.protocol import Notice, Progress, Refusal, WorkerRequest


@dataclass(frozen=True)
class Echo(WorkerRequest[object]):
    value: object


@dataclass(frozen=True)
class Twice(WorkerRequest[object]):
    """Is reported, and then answered, with its value."""

    value: object


@dataclass(frozen=True)
class Sleep(WorkerRequest[object]):
    """Spins until cancelled; a stubborn one never looks."""

    tag: str
    stubborn: bool = False


@dataclass(frozen=True)
class Beside(WorkerRequest[object]):
    """Is prepared beside other jobs until cancelled, or until one of them has opened the gate; then tells the state."""


@dataclass(frozen=True)
class Fail(WorkerRequest[object]):
    pass


def _thread(allowed: bool) -> str:
    if not allowed:
        raise ImportError("not to be opened")
    return Echo(threading.current_thread().name)


@dataclass(frozen=True)
class OpenedBy(WorkerRequest[object]):
    """Becomes the name of the thread that opens it; or nobody can."""

    allowed: bool = True

    def __reduce__(self):
        return _thread, (self.allowed,)


@dataclass(frozen=True)
class Refuse(WorkerRequest[object]):
    pass


@dataclass(frozen=True)
class Die(WorkerRequest[object]):
    pass


@dataclass(frozen=True)
class OpenGate(WorkerRequest[object]):
    """Ends all preparations that are under way."""


@dataclass(frozen=True)
class Annotate(WorkerRequest[object]):
    """Is answered; afterwards there are two notices, and the second one spins until a job cancels it."""


@dataclass(frozen=True)
class Remark(Notice):
    """The first notice, and how many have begun."""

    begun: int


class DoubleHandler(Handler):
    def __init__(self):
        super().__init__()
        self._gate = threading.Event()
        self._has_notices = False
        self._begun = 0

    def notices(self, cancel):
        if self._has_notices:
            self._begun += 1
            yield Remark(self._begun)
            if self._begun == 3:
                raise ZeroDivisionError("as asked")
            while True:
                cancel.check()
                time.sleep(0.005)

    @handles(Annotate)
    def annotate(self, _request, _job):
        self._has_notices = True
        return "answered"

    @handles_in_thread(Beside)
    def beside(self, _request, job):
        while not self._gate.is_set():
            job.cancel.report("beside", 1)
            time.sleep(0.005)
        return lambda: threading.current_thread().name

    @handles(Echo)
    def echo(self, request, _job):
        return request.value

    @handles(Twice)
    def twice(self, request, job):
        job.emit(request.value)
        return request.value

    @handles(Sleep)
    def sleep(self, request, job):
        job.emit(Progress(request.tag, 0, None))
        while request.stubborn or not job.cancel.is_cancelled:
            time.sleep(0.005)
        job.cancel.check()

    @handles(OpenGate)
    def open_gate(self, _request, _job):
        self._gate.set()
        return "open"

    @handles(Fail)
    def fail(self, _request, _job):
        raise ZeroDivisionError("as asked")

    @handles(Refuse)
    def refuse(self, _request, _job):
        return Refusal("not now")

    @handles(Die)
    def die(self, _request, _job):
        os.kill(os.getpid(), signal.SIGTERM)
