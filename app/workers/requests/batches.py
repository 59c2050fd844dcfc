"""Requests about batches of requests and responses."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.workers.protocol import WorkerRequest
from engine.diagnosis.batch.rows import BatchRow
from engine.diagnosis.case import FailureCase, RequestConstraint


@dataclass(frozen=True, slots=True)
class JudgeBatch(WorkerRequest["BatchAnswer"]):
    """Judge some requests of a batch, as many as take a fraction of a second; the answer says whether there are more.

    Attributes:
        paths: the folders and files.
        number: the number of the batch: another one reads the files again.
        first: the number of requests that were judged before.
    """

    paths: tuple[str, ...]
    number: int
    first: int = 0


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """Some rows of a batch.

    Attributes:
        rows: the rows from `first` on.
        done, total: bytes that were read, and those of all files.
        is_complete: whether these are the last rows.
        error: why the batch cannot be read, a sentence; empty if it can.
    """

    request: JudgeBatch
    rows: tuple[BatchRow, ...] = ()
    done: int = 0
    total: int = 0
    is_complete: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class ReadBatchRow(WorkerRequest["BatchRowAnswer"]):
    """Read a request of a batch again, with its response."""

    row: BatchRow


@dataclass(frozen=True, slots=True)
class BatchRowAnswer:
    """A request of a batch with its response.

    Attributes:
        case: what they say.
        calls: the grammars of the calls of its tools.
        error: why it cannot be read, a sentence; empty if it can.
    """

    request: ReadBatchRow
    case: FailureCase = field(default_factory=FailureCase)
    calls: tuple[RequestConstraint, ...] = ()
    error: str = ""
