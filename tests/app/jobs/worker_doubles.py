"""A handler for worker processes that does what a test tells it to. A module of its own, so that a child finds it."""

import os
import signal
import threading
import time
from dataclasses import dataclass

from app.workers.loop import Handler
from app.workers.protocol import Progress


@dataclass(frozen=True)
class Echo:
    value: object


@dataclass(frozen=True)
class Sleep:
    """Spins until cancelled; a stubborn one never looks."""

    tag: str
    stubborn: bool = False


@dataclass(frozen=True)
class Beside:
    """Is prepared beside other jobs until cancelled, or until one of them has opened the gate; then tells the state."""


@dataclass(frozen=True)
class Fail:
    pass


def _thread(allowed: bool) -> str:
    if not allowed:
        raise ImportError("not to be opened")
    return threading.current_thread().name


@dataclass(frozen=True)
class OpenedBy:
    """Becomes the name of the thread that opens it; or nobody can."""

    allowed: bool = True

    def __reduce__(self):
        return _thread, (self.allowed,)


@dataclass(frozen=True)
class Die:
    pass


@dataclass(frozen=True)
class OpenGate:
    """Ends all preparations that are under way."""


class DoubleHandler(Handler):
    def __init__(self):
        self._gate = threading.Event()

    def prepares(self, request):
        return isinstance(request, Beside)

    def prepare(self, request, cancel):
        while not self._gate.is_set():
            cancel.report("beside", 1)
            time.sleep(0.005)
        return OpenedBy()

    def handle(self, request, cancel, emit):
        match request:
            case Echo(value) | str(value):
                return value
            case Sleep(tag, stubborn):
                emit(Progress(tag, 0, None))
                while stubborn or not cancel.is_cancelled:
                    time.sleep(0.005)
                cancel.check()
            case OpenGate():
                self._gate.set()
                return "open"
            case OpenedBy():
                return threading.current_thread().name
            case Fail():
                raise ZeroDivisionError("as asked")
            case Die():
                os.kill(os.getpid(), signal.SIGTERM)
        return None
