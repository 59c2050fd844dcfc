"""Measurements of several engines, their summaries and comparisons.

Times are compared over the cases that both an engine and Turnstile completed. A ratio
is the time of the engine divided by the time of Turnstile.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from engine.peers.adapter import OWN
from engine.peers.bench_cases import BenchCase


class CaseOutcome(StrEnum):
    """The outcome of a case."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    """It compiled, but an error occurred later."""
    DIED = "died"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class CaseMeasurement:
    """The measurement of one engine on one case.

    Attributes:
        name: the name of the case.
        ending: its outcome.
        reason: the reason, unless the outcome is `DONE`.
        compile_us: microseconds from the source to a matcher.
        first_mask_us: microseconds from the source to the first mask.
        step_us: microseconds of each mask and accept.
        verdicts: for each text whether it was accepted, if the outcome is `DONE`.
        reached: for each text how many of its bytes were accepted, likewise.
        memory_bytes: how much the process grew from before the first compile to the end; None where that is unknown.
    """

    name: str
    ending: CaseOutcome
    reason: str = ""
    compile_us: float | None = None
    first_mask_us: float | None = None
    step_us: tuple[float, ...] = ()
    verdicts: tuple[bool, ...] = ()
    reached: tuple[int, ...] = ()
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class EngineMeasurements:
    """The measurements of one engine on all cases.

    Attributes:
        name: the name of the engine.
        version: the version of its package.
        absent: why it did not run, and how to install it; None if it ran.
        prepare_ms: milliseconds to prepare the vocabulary; None if that failed.
        cases: the measurements, in the order of the cases.
    """

    name: str
    version: str | None
    absent: str | None = None
    prepare_ms: float | None = None
    cases: tuple[CaseMeasurement, ...] = ()


@dataclass(frozen=True, slots=True)
class Times:
    """Statistics of the times to compile, to the first mask, and of a step; None without measurements."""

    compile_p50_ms: float | None
    first_mask_p50_ms: float | None
    first_mask_p99_ms: float | None
    step_mean_us: float | None
    step_p50_us: float | None
    step_p99_us: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The summary of one engine.

    Attributes:
        engine: its measurements.
        endings: the number of cases with each outcome.
        times: its times over all cases that it completed.
        ratios: its times divided by Turnstile's, over the cases that both completed; None for Turnstile itself.
        common: the number of these cases.
        agreed, judged: the texts of these cases on which both verdicts agree, and the number of these texts.
        false_rejects, false_accepts, labelled: the wrong verdicts on texts with a label, and the number of these texts.
    """

    engine: EngineMeasurements
    endings: dict[CaseOutcome, int]
    times: Times
    ratios: Times | None
    common: int
    agreed: int
    judged: int
    false_rejects: int
    false_accepts: int
    labelled: int


def compare(engines: Sequence[EngineMeasurements], cases: Sequence[BenchCase]) -> list[Comparison]:
    """Summarise every engine, in the given order; the measurements must include Turnstile's for the comparison."""
    ours = next((engine for engine in engines if engine.name == OWN), None)
    own_cases = {} if ours is None else _done(ours)
    return [_compare(engine, own_cases, cases) for engine in engines]


def _compare(
    engine: EngineMeasurements, own_cases: dict[int, CaseMeasurement], cases: Sequence[BenchCase]
) -> Comparison:
    done = _done(engine)
    common = sorted(own_cases.keys() & done.keys())
    verdicts = [pair for i in common for pair in zip(done[i].verdicts, own_cases[i].verdicts, strict=True)]
    labelled = [
        (verdict, text.valid)
        for i, case in done.items()
        for verdict, text in zip(case.verdicts, cases[i].texts, strict=True)
        if text.valid is not None
    ]
    ratios = None
    if engine.name != OWN and common:
        ratios = _ratios(_times([done[i] for i in common]), _times([own_cases[i] for i in common]))
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


def _done(engine: EngineMeasurements) -> dict[int, CaseMeasurement]:
    return {i: case for i, case in enumerate(engine.cases) if case.ending is CaseOutcome.DONE}


def _times(cases: Sequence[CaseMeasurement]) -> Times:
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


def _ratios(theirs: Times, ours: Times) -> Times:
    def ratio(name: str) -> float | None:
        numerator, denominator = getattr(theirs, name), getattr(ours, name)
        return numerator / denominator if numerator is not None and denominator else None

    return Times(*(ratio(name) for name in Times.__dataclass_fields__))
