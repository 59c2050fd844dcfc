"""The benchmark runner: measures one engine after the other, each in a process of its own.

A case that takes too long or crashes its process is recorded, and a new process
continues with the next case. Engines never run at the same time.

Rejected: `signal.setitimer` in the process itself. Not every system has it, and
native code that ignores the signal would never end.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Self

from engine.compile import CompileOptions
from engine.peers.adapter import Peer, PeerAbsentError
from engine.peers.bench_cases import BenchCase
from engine.peers.bench_worker import Answer, NotReady, Ready, Request, serve
from engine.peers.masks import CompletedText, CompleteText, FollowedTexts, FollowTexts
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

    def process_of(peer: Peer) -> PeerProcess:
        return PeerProcess(peer, vocabulary, walks=walks, limit_s=limit_s, options=options, cancel=cancel)

    return [_measured(peer, cases, process_of(peer), cancel) for peer in peers]


def vocabulary_with_end(vocabulary: Vocabulary) -> Vocabulary:
    """Return a vocabulary with an EOS id."""
    if vocabulary.eos_ids:
        return vocabulary
    return Vocabulary([*vocabulary.tokens, None], [vocabulary.size], vocabulary.special)


def _measured(peer: Peer, cases: Sequence[BenchCase], process: PeerProcess, cancel: CancelToken) -> EngineMeasurements:
    done = []
    with process:
        for number, case in enumerate(cases):
            cancel.report(peer.name, number, len(cases))
            try:
                done.append(process.measure(case))
            except PeerAbsentError as error:
                return EngineMeasurements(peer.name, peer.version, str(error.fields["reason"]))
    return EngineMeasurements(peer.name, peer.version, None, process.prepare_ms, tuple(done))


class PeerProcess:
    """An engine in a child process, which measures one case after the other, and answers questions about masks.

    The process starts with the first request, and again after one that took too long or ended it.

    Attributes:
        prepare_ms: the time to load the engine and to prepare the vocabulary, in milliseconds; None before that.
    """

    def __init__(
        self,
        peer: Peer,
        vocabulary: Vocabulary,
        *,
        walks: int = 1,
        limit_s: float = 10.0,
        options: CompileOptions = CompileOptions(),  # noqa: B008 - frozen
        cancel: CancelToken | None = None,
    ) -> None:
        """Create a process that is started later; the arguments are those of `run_bench`."""
        self._peer, self._walks, self._limit_s, self._options = peer, walks, limit_s, options
        self._vocabulary = vocabulary_with_end(vocabulary)
        self._cancel = cancel or CancelToken()
        self._child: tuple[BaseProcess, Connection] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="turnstile-")
        self._log = Path(self._folder.name) / "stderr"
        self.prepare_ms: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process, for good."""
        self._stop()
        self._folder.cleanup()

    @contextmanager
    def cancelled_by(self, cancel: CancelToken) -> Iterator[None]:
        """Let another token cancel the questions while the context lasts."""
        before, self._cancel = self._cancel, cancel
        try:
            yield
        finally:
            self._cancel = before

    def measure(self, case: BenchCase) -> CaseMeasurement:
        """Measure a case; a crash and a time-out are outcomes.

        Raises:
            PeerAbsentError: the engine is not installed, or cannot be used.
            CancelledError: the token was cancelled; no process is left running.
        """
        answer, reason = self._ask(case)
        if isinstance(answer, CaseMeasurement):
            return replace(answer, reason=answer.reason + reason) if answer.ending is not CaseOutcome.DONE else answer
        assert isinstance(answer, CaseOutcome)
        return CaseMeasurement(case.name, answer, reason)

    def follow(self, texts: FollowTexts) -> FollowedTexts:
        """Return the masks along texts; a crash or a time-out is the failure of the text that causes it.

        Raises:
            PeerAbsentError, CancelledError: as for `measure`.
        """
        answer, reason = self._ask(texts)
        if isinstance(answer, FollowedTexts):
            return replace(answer, refused=answer.refused + reason) if answer.refused else answer
        if not any(texts.paths):  # the compile, or the first mask
            return FollowedTexts(refused=reason)
        if len(texts.paths) == 1:
            return self._where_it_fails(texts, reason)
        halves = [replace(texts, paths=part) for part in _halves(texts.paths)]
        found = [self.follow(half) for half in halves]
        refused = next((one.refused for one in found if one.refused), "")
        return FollowedTexts(refused=refused) if refused else FollowedTexts((*found[0].texts, *found[1].texts))

    def _where_it_fails(self, texts: FollowTexts, reason: str) -> FollowedTexts:
        """Return the masks along the longest part of a text that the engine survives, found by bisection."""
        (path,) = texts.paths
        low, high = -1, len(path)  # it survives `low` tokens, and not `high`
        best = FollowedTexts(refused=reason)
        while high - low > 1:
            middle = (low + high + 1) // 2
            answer, _ = self._ask(replace(texts, paths=(path[:middle],)))
            if isinstance(answer, FollowedTexts):
                low, best = middle, answer
            else:
                high = middle
        return best if best.refused else FollowedTexts((replace(best.texts[0], failure=reason),))

    def complete(self, text: CompleteText) -> tuple[int, ...] | None:
        """Return the token ids of a complete text that the engine accepts; None if none is found.

        Raises:
            PeerAbsentError, CancelledError: as for `measure`.
        """
        answer, _ = self._ask(text)
        return answer.path if isinstance(answer, CompletedText) else None

    def _ask(self, request: Request) -> tuple[Answer | CaseOutcome, str]:
        """Return the answer to a request, and what native code wrote, or why there is no answer."""
        try:
            pipe = self._started()
            with suppress(ConnectionError):  # it died after its last answer
                pipe.send(request)
            answer = self._receive(pipe, self._limit_s)
        except BaseException:
            self._stop()
            raise
        if not isinstance(answer, CaseOutcome):
            return answer, _last_words(self._log)
        message = f"no answer within {self._limit_s:g} s"
        if answer is CaseOutcome.DIED:
            message = f"its process died{_last_words(self._log)}"
        self._stop()
        return answer, message

    def _started(self) -> Connection:
        if self._child is not None:
            return self._child[1]
        if self._peer.version is None:
            raise self._absent(f"not installed: {self._peer.hint}")
        self._log.write_bytes(b"")
        context = spawn_context()
        pipe, child_end = context.Pipe()
        arguments = child_end, self._peer, self._vocabulary, self._walks, self._options, str(self._log)
        process = context.Process(target=serve, args=arguments, daemon=True)
        start_process(process)
        self._child = process, pipe
        child_end.close()
        ready = self._receive(pipe, PREPARING_S)
        if isinstance(ready, NotReady):
            raise self._absent(f"it cannot be used: {ready.reason}")
        if not isinstance(ready, Ready):
            raise self._absent(f"it {ready} while it was loaded")
        if self.prepare_ms is None:
            self.prepare_ms = ready.prepare_ms
        return pipe

    def _absent(self, reason: str) -> PeerAbsentError:
        return PeerAbsentError("errors.peers.absent", name=self._peer.name, reason=reason)

    def _stop(self) -> None:
        if self._child is not None:
            process, pipe = self._child
            self._child = None
            process.kill()
            process.join()
            process.close()
            pipe.close()

    def _receive(self, pipe: Connection, limit_s: float) -> Answer | CaseOutcome:
        deadline = time.monotonic() + limit_s
        while not pipe.poll(_POLL_S):
            self._cancel.check()
            if time.monotonic() > deadline:
                return CaseOutcome.TIMED_OUT
        try:
            answer: Answer = pipe.recv()
        except (EOFError, ConnectionError):
            return CaseOutcome.DIED
        return answer


def _halves(paths: tuple[tuple[int, ...], ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    middle = len(paths) // 2
    return paths[:middle], paths[middle:]


def _last_words(log: Path) -> str:
    """Return the end of what native code wrote to stderr, to append to a message; empty for nothing."""
    words = " ".join(log.read_text("utf-8", "replace").split())
    return f": {words[-_MOST_WORDS:]}" if words else ""
