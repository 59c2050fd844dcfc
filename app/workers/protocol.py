"""What travels in the pipe between the window and a worker process: commands one way, replies the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Submit:
    """Do this job."""

    job_id: int
    request: Any


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop this job politely, or skip it if it has not begun."""

    job_id: int


Command = Submit | Cancel


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
