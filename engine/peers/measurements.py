"""The measurements of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
    """

    name: str
    ending: CaseOutcome
    reason: str = ""
    compile_us: float | None = None
    first_mask_us: float | None = None
    step_us: tuple[float, ...] = ()
    verdicts: tuple[bool, ...] = ()


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
