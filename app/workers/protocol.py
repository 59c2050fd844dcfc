"""The messages in the pipe between the window and a worker process: commands and replies."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any


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


Message = Began | Reply
