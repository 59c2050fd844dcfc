"""Batches of requests and responses, judged in the judge group.

A batch may take minutes, and test strings must not wait for it: each request judges rows for a moment, and the window
asks for the next ones. The reader is kept between two requests; if the process was restarted meanwhile, it begins anew
and leaves out the rows that were judged.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from app.workers.loop import Job, handles
from app.workers.protocol import sentence
from app.workers.requests.batches import BatchAnswer, BatchRowAnswer, JudgeBatch, ReadBatchRow
from engine.diagnosis.batch.entries import BatchEntry
from engine.diagnosis.batch.judging import judge_entry
from engine.diagnosis.batch.rows import BatchRow
from engine.diagnosis.batch.sources import batch_entries, read_sources
from engine.diagnosis.case import FailureCase
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import Diagnosis
from engine.diagnosis.intake import call_grammars
from engine.source import CancelledError, CancelToken, EngineError

_SECONDS = 0.15
_MOST_ROWS = 500


class _Progress(CancelToken):
    """A token of the reader of a batch, which outlives the requests; it follows the token of the present one."""

    def __init__(self) -> None:
        super().__init__()
        self.done = self.total = 0
        self.present = CancelToken()

    def check(self) -> None:
        """Stop the reader if the present request is cancelled."""
        self.present.check()

    def report(self, what: str, done: int, total: int | None = None) -> None:
        """Remember how far the reader is, then check."""
        self.done, self.total = done, total or 0
        self.check()


class BatchReader:
    """The reader of a batch between two requests.

    Attributes:
        progress: how far it is.
        entries: the requests that it has not read yet.
    """

    def __init__(self, paths: tuple[str, ...]) -> None:
        self.progress = _Progress()
        self.entries: Iterator[BatchEntry] = batch_entries(tuple(map(Path, paths)), cancel=self.progress)


class _Reader(BatchReader):
    """The reader of a batch that is judged."""

    def __init__(self, request: JudgeBatch) -> None:
        super().__init__(request.paths)
        self.paths, self.number, self.first = request.paths, request.number, 0

    def is_of(self, request: JudgeBatch) -> bool:
        """Return whether the next rows of a request are the next ones of this reader."""
        return (self.paths, self.number, self.first) == (request.paths, request.number, request.first)


class BatchHandler:
    """Judges batches, a part of the judge group's handler."""

    def __init__(self) -> None:
        self._reader: _Reader | None = None

    @handles(JudgeBatch)
    def _judge(self, request: JudgeBatch, job: Job) -> BatchAnswer:
        reader, self._reader = self._reader, None  # a reader that was stopped cannot go on
        try:
            if reader is None or not reader.is_of(request):
                reader = _Reader(request)
                reader.progress.present = job.cancel
                reader.first = sum(1 for _ in islice(reader.entries, request.first))
            reader.progress.present = job.cancel
            rows, is_complete = _rows(reader, job.cancel)
        except CancelledError:
            raise
        except EngineError as error:
            return BatchAnswer(request, is_complete=True, error=sentence(error))
        self._reader = None if is_complete else reader
        reader.first += len(rows)
        done, total = reader.progress.done, reader.progress.total
        return BatchAnswer(request, tuple(rows), total if is_complete else done, total, is_complete)

    @handles(ReadBatchRow)
    def _read(self, request: ReadBatchRow, _job: Job) -> BatchRowAnswer:
        try:
            case = read_sources(request.row.sources).case()
        except EngineError as error:
            return BatchRowAnswer(request, error=sentence(error))
        return BatchRowAnswer(request, case, call_grammars(case))


def _rows(reader: _Reader, cancel: CancelToken) -> tuple[list[BatchRow], bool]:
    """Judge rows for a moment; return them, and whether they are the last ones."""

    def judge(case: FailureCase) -> Diagnosis:
        return diagnose(case, cancel=cancel)

    rows: list[BatchRow] = []
    end = time.monotonic() + _SECONDS
    for entry in reader.entries:
        rows.append(judge_entry(entry, judge, cancel=cancel)[0])
        if len(rows) == _MOST_ROWS or time.monotonic() > end:
            return rows, False
    return rows, True
