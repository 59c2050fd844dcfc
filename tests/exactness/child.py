"""A process in which grammars are tried, so that none of them can stop the others."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path

from tests.exactness.outcome import Outcome
from tests.exactness.subjects import Subject
from tests.exactness.trials import Bench, Effort, try_on

STARTING_S = 120.0  # the first answer pays for imports and kernels


class Child:
    """The process in which grammars are tried, one after the other; one that takes too long or dies is replaced."""

    def __init__(self, tokenizer: Path, effort: Effort, limit_s: float) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._work = tokenizer, effort
        self._limit_s = limit_s
        self._process: multiprocessing.process.BaseProcess | None = None

    def run(self, trial: str, subject: Subject) -> Outcome:
        """Try, or say why there is no answer."""
        starting = self._process is None
        if self._process is None:
            self._pipe, other = self._context.Pipe()
            self._process = self._context.Process(target=_serve, args=(other, *self._work), daemon=True)
            self._process.start()
            other.close()
        self._pipe.send((trial, subject))
        try:
            if self._pipe.poll(self._limit_s + STARTING_S * starting):
                return self._pipe.recv()
            failed = f"no answer within {self._limit_s:g} s"
        except EOFError:
            failed = "the process died"
        self.stop()
        return Outcome(wrong=[f"{subject.corpus} {subject.id}: {failed}"])

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(pipe: Connection, tokenizer: Path, effort: Effort) -> None:
    bench = Bench(tokenizer)
    while True:
        try:
            trial, subject = pipe.recv()
        except EOFError:
            return
        try:
            outcome = try_on(trial, subject, bench, effort)
        except Exception as error:  # noqa: BLE001 - a failure on one grammar is a finding, and the others go on
            outcome = Outcome(wrong=[f"{subject.corpus} {subject.id}: {type(error).__name__}: {error}"])
        pipe.send(outcome)
