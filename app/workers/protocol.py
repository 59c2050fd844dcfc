"""What travels in the pipe between the window and a worker process: commands one way, replies the other."""

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
        """The job as it travels."""
        return Sealed(self.job_id, pickle.dumps(self.request))


@dataclass(frozen=True, slots=True)
class Sealed:
    """A job whose request whoever does it will open.

    To unpickle is to import, and where two threads import a package and its modules at once, Python may see a deadlock
    and fail one of them. The thread that listens must not be it.
    """

    job_id: int
    pickled: bytes

    def open(self) -> Any:
        """The request."""
        return pickle.loads(self.pickled)  # noqa: S301 - it comes from the window, which started this process


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop this job politely, or skip it if it has not begun."""

    job_id: int


Command = Sealed | Cancel


@dataclass(frozen=True, slots=True)
class Began:
    """The worker took this job up: from now on it can be late."""

    job_id: int


@dataclass(frozen=True, slots=True)
class Reply:
    """Something about a job; its last reply has `final` set."""

    job_id: int
    value: Any
    final: bool


Message = Began | Reply
