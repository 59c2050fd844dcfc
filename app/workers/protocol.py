"""The base of all requests, and the messages that carry them: commands and replies in the pipe, progress, failures.

All messages between the window and its workers are frozen and picklable, and importing them loads neither torch nor
numpy. A request contains everything that its work needs, so that no lock is ever held; its answer carries the revision
that it was computed for, so that a late one is dropped.

The requests themselves, with the types of their answers, are in `app.workers.requests`.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from app.catalogue import capitalised

if TYPE_CHECKING:
    from engine.source import EngineError

A = TypeVar("A")


class WorkerRequest(Generic[A]):
    """A request to a worker process that is answered with an `A`; each subclass has one handler (`loop.handles`)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a job; `total` is None if it is unknown."""

    what: str
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """A request failed in a way that its handler does not expect: a bug, with its traceback."""

    summary: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request cannot be served in the present state; `error` says why, and what to do."""

    error: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A request was cancelled before it had an answer."""


@dataclass(frozen=True, slots=True)
class Submit:
    """Do this job."""

    job_id: int
    request: Any

    def sealed(self) -> Sealed:
        """Return the job with its request pickled."""
        return Sealed(self.job_id, pickle.dumps(self.request))


@dataclass(frozen=True, slots=True)
class Sealed:
    """A job whose request is unpickled by the thread that does it.

    Unpickling imports modules, and if two threads import a package and its modules at once, Python may detect a
    deadlock and fail one of them. So the listening thread must not unpickle.
    """

    job_id: int
    pickled: bytes

    def open(self) -> Any:
        """Return the request."""
        return pickle.loads(self.pickled)  # noqa: S301 - it comes from the window, which started this process


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop this job at its next check, or skip it if it has not begun."""

    job_id: int


Command = Sealed | Cancel


@dataclass(frozen=True, slots=True)
class Began:
    """The worker started this job: from now on it can exceed its time limit."""

    job_id: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A message about a job; its last reply has `final` set."""

    job_id: int
    value: Any
    final: bool


class Notice:
    """Something that an idle worker says without a request, about the answer that it gave last."""

    __slots__ = ()


Message = Began | Reply | Notice


def sentence(error: EngineError) -> str:
    """Return an error's text as a sentence that begins with a capital letter."""
    return capitalised(str(error) or type(error).__name__)
