"""What the measurements of several engines come to.

Times are compared over the cases that an engine and this one both did, texts of
which both followed. A ratio says how many times ours the other's time is.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.peers.bench_cases import BenchCase
from engine.peers.measurements import CaseMeasured, CaseOutcome, EngineMeasured
from engine.peers.registry import OWN


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds to a first mask, and microseconds of a step. None where there are none."""

    compile_p50_ms: float | None
    first_mask_p50_ms: float | None
    first_mask_p99_ms: float | None
    step_mean_us: float | None
    step_p50_us: float | None
    step_p99_us: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One engine, summed up.

    Attributes:
        engine: what was measured.
        endings: how many cases ended how.
        times: over all that it did.
        ratios: its times by ours, over the cases that both did; None of this engine itself.
        common: over how many cases.
        agreed, judged: texts of the common cases on which its verdict is ours, of how many.
        false_rejects, false_accepts, labelled: of texts that have a label, and how many those are.
    """

    engine: EngineMeasured
    endings: dict[CaseOutcome, int]
    times: Times
    ratios: Times | None
    common: int
    agreed: int
    judged: int
    false_rejects: int
    false_accepts: int
    labelled: int


def compare(engines: Sequence[EngineMeasured], cases: Sequence[BenchCase]) -> list[Comparison]:
    """Sum up every engine, in the order given; the measurements of this engine are among them."""
    ours = next((engine for engine in engines if engine.name == OWN), None)
    own_cases = {} if ours is None else _done(ours)
    return [_compare(engine, own_cases, cases) for engine in engines]


def _compare(engine: EngineMeasured, own: dict[int, CaseMeasured], cases: Sequence[BenchCase]) -> Comparison:
    done = _done(engine)
    common = sorted(own.keys() & done.keys())
    verdicts = [pair for i in common for pair in zip(done[i].verdicts, own[i].verdicts, strict=True)]
    labelled = [
        (verdict, text.valid)
        for i, case in done.items()
        for verdict, text in zip(case.verdicts, cases[i].texts, strict=True)
        if text.valid is not None
    ]
    ratios = None
    if engine.name != OWN and common:
        ratios = _divided(_times([done[i] for i in common]), _times([own[i] for i in common]))
    return Comparison(
        engine=engine,
        endings={ending: sum(case.ending is ending for case in engine.cases) for ending in CaseOutcome},
        times=_times(list(done.values())),
        ratios=ratios,
        common=len(common),
        agreed=sum(theirs == ours for theirs, ours in verdicts),
        judged=len(verdicts),
        false_rejects=sum(valid and not verdict for verdict, valid in labelled),
        false_accepts=sum(verdict and not valid for verdict, valid in labelled),
        labelled=len(labelled),
    )


def _done(engine: EngineMeasured) -> dict[int, CaseMeasured]:
    return {i: case for i, case in enumerate(engine.cases) if case.ending is CaseOutcome.DONE}


def _times(cases: Sequence[CaseMeasured]) -> Times:
    firsts = [case.first_mask_us / 1e3 for case in cases if case.first_mask_us is not None]
    compiles = [case.compile_us / 1e3 for case in cases if case.compile_us is not None]
    steps = [step for case in cases for step in case.step_us]
    return Times(
        statistics.median(compiles) if compiles else None,
        statistics.median(firsts) if firsts else None,
        float(np.percentile(firsts, 99)) if firsts else None,
        statistics.fmean(steps) if steps else None,
        statistics.median(steps) if steps else None,
        float(np.percentile(steps, 99)) if steps else None,
    )


def _divided(theirs: Times, ours: Times) -> Times:
    def ratio(name: str) -> float | None:
        above, below = getattr(theirs, name), getattr(ours, name)
        return above / below if above is not None and below else None

    return Times(*(ratio(name) for name in Times.__dataclass_fields__))
