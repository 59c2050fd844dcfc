"""The child process of one engine: it receives cases and questions over a pipe, and sends an answer to each."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from engine.compile import CompileOptions
from engine.peers.adapter import Adapter, GreedyTokenizer, Peer, PeerMatcher, error_text
from engine.peers.adapters.turnstile import OwnAdapter
from engine.peers.bench_cases import BenchCase
from engine.peers.masks import CompletedText, CompleteText, FollowedTexts, FollowTexts, MaskReader
from engine.peers.report import CaseMeasurement, CaseOutcome
from engine.source.processes import limit_memory, resident_bytes
from engine.vocabulary import Vocabulary

MOST_MEMORY = 4 << 30
"""The bytes that an engine may take for its grammars, beyond those that it needs to be loaded."""

_COMPILES = 3
_MAX_REPEATED_US = 500_000.0  # compiles that took longer in total are not repeated


@dataclass(frozen=True, slots=True)
class Ready:
    """The vocabulary is prepared."""

    prepare_ms: float


@dataclass(frozen=True, slots=True)
class NotReady:
    """The engine cannot be loaded, or rejects the vocabulary."""

    reason: str


Request = BenchCase | FollowTexts | CompleteText
Answer = Ready | NotReady | CaseMeasurement | FollowedTexts | CompletedText


def serve(
    pipe: Connection,
    peer: Peer,
    vocabulary: Vocabulary,
    walks: int,
    options: CompileOptions = CompileOptions(),  # noqa: B008 - frozen
    log: str = os.devnull,
) -> None:
    """Prepare the engine, then answer requests until None is received.

    Args:
        pipe: the pipe for requests and answers.
        peer: the engine.
        vocabulary: a vocabulary with an EOS id.
        walks: how often each text is followed.
        options: the options of Turnstile's compiles.
        log: the file for the standard error of the process, in which native code says why it ends.
    """
    _end_with_parent()
    _use_one_core()
    _redirect_stderr(log)
    began = time.perf_counter_ns()
    try:
        adapter = peer.adapter(vocabulary)
        if isinstance(adapter, OwnAdapter):
            adapter.options = options
    except Exception as error:  # noqa: BLE001 - an engine's error is reported and does not end the benchmark
        pipe.send(NotReady(error_text(error)))
        return
    pipe.send(Ready((time.perf_counter_ns() - began) / 1e6))
    if not isinstance(adapter, OwnAdapter):
        limit_memory(MOST_MEMORY)
    tokenizer, reader = GreedyTokenizer(vocabulary), MaskReader(adapter, vocabulary)
    while (request := pipe.recv()) is not None:
        if log != os.devnull:
            os.truncate(log, 0)
        if isinstance(request, FollowTexts):
            pipe.send(reader.follow(request))
        elif isinstance(request, CompleteText):
            pipe.send(reader.complete(request))
        else:
            pipe.send(measure(adapter, tokenizer, request, walks))


def measure(adapter: Adapter, tokenizer: GreedyTokenizer, case: BenchCase, walks: int) -> CaseMeasurement:
    """Measure one engine on one case, with cold caches.

    The grammar is compiled three times, unless that is slow, and the median counts: work that a process does only
    once, such as loading code, does not belong to the grammar.

    Args:
        adapter: the engine.
        tokenizer: the tokenizer of the texts.
        case: the grammar and its texts.
        walks: how often each text is followed.
    """
    token_ids = [tokenizer.spell(text.text.encode("utf-8", "surrogatepass")) for text in case.texts]
    if any(ids is None for ids in token_ids):
        return CaseMeasurement(case.name, CaseOutcome.REFUSED, "the vocabulary cannot spell a text")
    times: list[tuple[float, float]] = []
    before = resident_bytes()
    try:
        while len(times) < _COMPILES and sum(first_mask for _, first_mask in times) < _MAX_REPEATED_US:
            adapter.forget()
            began = time.perf_counter_ns()
            matcher = adapter.compile(case.notation, case.source)
            compiled = time.perf_counter_ns()
            matcher.fill_mask()
            times.append(((compiled - began) / 1e3, (time.perf_counter_ns() - began) / 1e3))
    except Exception as error:  # noqa: BLE001 - any exception means that the engine rejects the grammar
        return CaseMeasurement(case.name, CaseOutcome.REFUSED, error_text(error))
    compile_us, first_mask_us = (statistics.median(column) for column in zip(*times, strict=True))
    steps: list[float] = []
    verdicts, reached = [], []
    try:
        for ids in token_ids:
            for _ in range(walks):
                accepted, verdict = _follow(matcher, ids or [], steps)
            verdicts.append(verdict)
            reached.append(sum(len(tokenizer.token_bytes(token_id)) for token_id in (ids or [])[:accepted]))
    except Exception as error:  # noqa: BLE001 - as above
        return CaseMeasurement(case.name, CaseOutcome.FAILED, error_text(error), compile_us, first_mask_us)
    after = resident_bytes()
    grown = None if before is None or after is None else max(0, after - before)
    walked = tuple(steps), tuple(verdicts), tuple(reached)
    return CaseMeasurement(case.name, CaseOutcome.DONE, "", compile_us, first_mask_us, *walked, memory_bytes=grown)


def _follow(matcher: PeerMatcher, ids: Sequence[int], steps: list[float]) -> tuple[int, bool]:
    """Return how many tokens of a text are accepted, and whether the text is."""
    matcher.reset()
    clock = time.perf_counter_ns
    for number, token_id in enumerate(ids):
        began = clock()
        matcher.fill_mask()
        allowed = matcher.accept(token_id)
        steps.append((clock() - began) / 1e3)
        if not allowed:
            return number, False
    return len(ids), matcher.is_accepting()


def _end_with_parent() -> None:
    """End this process when its parent does, even during a compile that takes long."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _use_one_core() -> None:
    """Restrict the process, including threads that an engine starts, to one core if the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _redirect_stderr(log: str) -> None:
    """Write stderr to a file; native code of some engines writes a warning for each compile."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 2)
    os.close(file)
