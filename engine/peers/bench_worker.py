"""What runs in the process of one engine: it answers over a pipe, so that the parent knows how far it came."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from engine.compile import CompileOptions
from engine.peers.adapter import Adapter, PeerMatcher
from engine.peers.bench_cases import BenchCase
from engine.peers.measurements import CaseMeasured, CaseOutcome
from engine.peers.registry import Peer
from engine.peers.token_ids import Speller
from engine.peers.turnstile import OwnAdapter
from engine.vocabulary import Vocabulary

_COMPILES = 3
_SLOW_US = 500_000.0  # compiles that took so long together are not repeated


@dataclass(frozen=True, slots=True)
class Ready:
    """The vocabulary is prepared."""

    prepare_ms: float


@dataclass(frozen=True, slots=True)
class Unready:
    """The engine cannot be loaded, or refuses the vocabulary."""

    reason: str


Answer = Ready | Unready | CaseMeasured


def serve(
    pipe: Connection,
    peer: Peer,
    vocabulary: Vocabulary,
    cases: Sequence[BenchCase],
    walks: int,
    options: CompileOptions = CompileOptions(),  # noqa: B008 - frozen
) -> None:
    """Prepare, then measure case after case; one answer for each.

    Args:
        pipe: where answers go.
        peer: the engine.
        vocabulary: with an EOS id.
        cases: what to measure.
        walks: how often each text is followed.
        options: of this engine's compiles.
    """
    _take_one_core()
    _be_silent()
    began = time.perf_counter_ns()
    try:
        adapter = peer.adapter()(vocabulary)
        if isinstance(adapter, OwnAdapter):
            adapter.options = options
    except Exception as error:  # noqa: BLE001 - whatever a peer does is told, never the bench's end
        pipe.send(Unready(_said(error)))
        return
    pipe.send(Ready((time.perf_counter_ns() - began) / 1e6))
    speller = Speller(vocabulary)
    for case in cases:
        pipe.send(measure(adapter, speller, case, walks))


def measure(adapter: Adapter, speller: Speller, case: BenchCase, walks: int) -> CaseMeasured:
    """One engine on one case.

    Nothing is known of the grammar before. It is compiled three times, unless that is slow, and the median counts:
    what a process does but once, such as to load code, is not the grammar's. Each text is followed `walks` times.
    """
    spelled = [speller.spell(text.text.encode("utf-8", "surrogatepass")) for text in case.texts]
    if any(ids is None for ids in spelled):
        return CaseMeasured(case.name, CaseOutcome.REFUSED, "the vocabulary cannot spell a text")
    times: list[tuple[float, float]] = []
    try:
        while len(times) < _COMPILES and sum(first_mask for _, first_mask in times) < _SLOW_US:
            adapter.forget()
            began = time.perf_counter_ns()
            matcher = adapter.compile(case.notation, case.source)
            compiled = time.perf_counter_ns()
            matcher.fill_mask()
            times.append(((compiled - began) / 1e3, (time.perf_counter_ns() - began) / 1e3))
    except Exception as error:  # noqa: BLE001 - a refusal, whatever a peer raises for it
        return CaseMeasured(case.name, CaseOutcome.REFUSED, _said(error))
    compile_us, first_mask_us = (statistics.median(column) for column in zip(*times, strict=True))
    steps: list[float] = []
    verdicts = []
    try:
        for ids in spelled:
            for _ in range(walks):
                verdict = _follow(matcher, ids or [], steps)
            verdicts.append(verdict)
    except Exception as error:  # noqa: BLE001 - as above
        return CaseMeasured(case.name, CaseOutcome.FAILED, _said(error), compile_us, first_mask_us)
    return CaseMeasured(case.name, CaseOutcome.DONE, "", compile_us, first_mask_us, tuple(steps), tuple(verdicts))


def _follow(matcher: PeerMatcher, ids: Sequence[int], steps: list[float]) -> bool:
    matcher.reset()
    clock = time.perf_counter_ns
    for token_id in ids:
        began = clock()
        matcher.fill_mask()
        taken = matcher.accept(token_id)
        steps.append((clock() - began) / 1e3)
        if not taken:
            return False
    return matcher.is_accepting()


def _take_one_core() -> None:
    """Stay on one core, where the system lets a process choose; threads that a peer starts are held to it too."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _be_silent() -> None:
    """Native code of some peers writes warnings to stderr, once for each compile; what counts is told as a reason."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _said(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
