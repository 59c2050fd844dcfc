"""What the bench measures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CaseOutcome(StrEnum):
    """What became of a case."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    """It compiled, and then an error came."""
    DIED = "died"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class CaseMeasured:
    """One engine on one case.

    Attributes:
        name: the case's.
        ending: what became of it.
        reason: why, where it is not done.
        compile_us: microseconds from the source to what follows texts.
        first_mask_us: the same with the first mask.
        step_us: microseconds of each mask and accept.
        verdicts: of each text whether it was accepted to its end, where the case was done.
    """

    name: str
    ending: CaseOutcome
    reason: str = ""
    compile_us: float | None = None
    first_mask_us: float | None = None
    step_us: tuple[float, ...] = ()
    verdicts: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineMeasured:
    """One engine on all cases.

    Attributes:
        name: the engine's.
        version: its package's.
        absent: why it did not run, with how to get it; None where it did.
        prepare_ms: milliseconds for the vocabulary; None where that failed.
        cases: in the order in which they were given.
    """

    name: str
    version: str | None
    absent: str | None = None
    prepare_ms: float | None = None
    cases: tuple[CaseMeasured, ...] = ()
