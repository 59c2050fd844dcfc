"""What a trial found: how much was compared, what was not and why, and what is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Outcome:
    """Adds up.

    Attributes:
        compared: how many comparisons were made, by what was compared.
        skipped: how many were not, by reason.
        wrong: one line for each that failed, with all that is needed to see it again.
        limits: one line for each grammar that compiled and then outgrew a limit. That is a refusal, late but told.
    """

    compared: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Take in another."""
        self.compared += other.compared
        self.skipped += other.skipped
        self.wrong += other.wrong
        self.limits += other.limits
