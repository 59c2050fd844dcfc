"""The benchmark runner: measures one engine after the other, each in a process of its own.

A case that takes too long or crashes its process is recorded, and a new process
continues with the next case. Engines never run at the same time.

Rejected: `signal.setitimer` in the process itself. Not every system has it, and
native code that ignores the signal would never end.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from engine.compile import CompileOptions
from engine.peers.adapter import Peer
from engine.peers.bench_cases import BenchCase
from engine.peers.bench_worker import Answer, NotReady, Ready, serve
from engine.peers.report import CaseMeasurement, CaseOutcome, EngineMeasurements
from engine.source import CancelToken
from engine.source.processes import spawn_context, start_process
from engine.vocabulary import Vocabulary

PREPARING_S = 120.0
"""The time limit for an engine to load and to prepare a vocabulary."""

_POLL_S = 0.1
_MOST_WORDS = 200  # characters of a message of native code


def run_bench(
    peers: Sequence[Peer],
    vocabulary: Vocabulary,
    cases: Sequence[BenchCase],
    *,
    walks: int = 1,
    limit_s: float = 10.0,
    options: CompileOptions = CompileOptions(),  # noqa: B008 - frozen
    cancel: CancelToken | None = None,
) -> list[EngineMeasurements]:
    """Measure engines on cases.

    Args:
        peers: the engines, in the order in which they run.
        vocabulary: the vocabulary of the masks; an EOS id is added if it has none.
        cases: the grammars and texts.
        walks: how often each text is followed; the first time all caches are cold.
        limit_s: the time limit of an engine for a case, in seconds.
        options: the options of Turnstile's compiles; the other engines have no comparable ones.
        cancel: checked many times a second; receives the progress.

    Raises:
        CancelledError: `cancel` was used; no process is left running.
    """
    cancel = cancel or CancelToken()
    if not vocabulary.eos_ids:
        vocabulary = Vocabulary([*vocabulary.tokens, None], [vocabulary.size], vocabulary.special)
    return [_Run(peer, vocabulary, cases, walks, limit_s, options, cancel).measured() for peer in peers]


class _Run:
    """The measurement of one engine on all cases."""

    def __init__(
        self,
        peer: Peer,
        vocabulary: Vocabulary,
        cases: Sequence[BenchCase],
        walks: int,
        limit_s: float,
        options: CompileOptions,
        cancel: CancelToken,
    ) -> None:
        self._peer, self._vocabulary, self._cases, self._walks = peer, vocabulary, cases, walks
        self._limit_s, self._options, self._cancel = limit_s, options, cancel
        self._done: list[CaseMeasurement] = []
        self._prepare_ms: float | None = None

    def measured(self) -> EngineMeasurements:
        version = self._peer.version
        if version is None:
            return EngineMeasurements(self._peer.name, None, f"not installed: {self._peer.hint}")
        result = EngineMeasurements(self._peer.name, version)
        while len(self._done) < len(self._cases):
            reason = self._measure_in_new_process()
            if reason is not None:
                return replace(result, absent=reason)
        return replace(result, prepare_ms=self._prepare_ms, cases=tuple(self._done))

    def _measure_in_new_process(self) -> str | None:
        """Measure in a new process until all cases are done or the process is lost.

        Returns:
            The reason why the engine cannot run; None if it can.
        """
        with tempfile.TemporaryDirectory(prefix="turnstile-") as folder:
            log = Path(folder) / "stderr"
            log.touch()
            return self._measure_with_log(log)

    def _measure_with_log(self, log: Path) -> str | None:
        context = spawn_context()
        pipe, child_end = context.Pipe(duplex=False)
        remaining = self._cases[len(self._done) :]
        arguments = child_end, self._peer, self._vocabulary, remaining, self._walks, self._options, str(log)
        process = context.Process(target=serve, args=arguments, daemon=True)
        start_process(process)
        child_end.close()
        try:
            ready = self._receive(pipe, PREPARING_S)
            if isinstance(ready, NotReady):
                return f"it cannot be used: {ready.reason}"
            if not isinstance(ready, Ready):
                return f"it {ready} while it was loaded"
            if self._prepare_ms is None:
                self._prepare_ms = ready.prepare_ms
            for case in remaining:
                self._cancel.report(self._peer.name, len(self._done), len(self._cases))
                answer = self._receive(pipe, self._limit_s)
                if isinstance(answer, CaseMeasurement):
                    if answer.ending is not CaseOutcome.DONE:
                        answer = replace(answer, reason=answer.reason + _last_words(log))
                    self._done.append(answer)
                    continue
                assert isinstance(answer, CaseOutcome)
                message = f"no answer within {self._limit_s:g} s"
                if answer is CaseOutcome.DIED:
                    message = f"its process died{_last_words(log)}"
                self._done.append(CaseMeasurement(case.name, answer, message))
                return None
        finally:
            process.kill()
            process.join()
            process.close()
            pipe.close()
        return None

    def _receive(self, pipe: Connection, limit_s: float) -> Answer | CaseOutcome:
        deadline = time.monotonic() + limit_s
        while not pipe.poll(_POLL_S):
            self._cancel.check()
            if time.monotonic() > deadline:
                return CaseOutcome.TIMED_OUT
        try:
            answer: Answer = pipe.recv()
        except EOFError:
            return CaseOutcome.DIED
        return answer


def _last_words(log: Path) -> str:
    """Return the end of what native code wrote to stderr, to append to a message; empty for nothing."""
    words = " ".join(log.read_text("utf-8", "replace").split())
    return f": {words[-_MOST_WORDS:]}" if words else ""
