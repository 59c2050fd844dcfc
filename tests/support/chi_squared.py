"""Pearson's chi-squared test of counts against a distribution, without scipy."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
LEAST_EXPECTED = 5.0


def p_value(counts: Mapping[T, int], p: Mapping[T, float]) -> float:
    """Return the probability of a larger statistic; 0 if a value was drawn that has no probability.

    Values with an expected count below 5 are one class, as the approximation needs.
    """
    total = sum(counts.values())
    if any(count and not p.get(value) for value, count in counts.items()):
        return 0.0
    classes = [(total * one, counts.get(value, 0)) for value, one in p.items()]
    kept = [one for one in classes if one[0] >= LEAST_EXPECTED]
    rare = [one for one in classes if one[0] < LEAST_EXPECTED]
    if rare:
        kept.append((sum(one[0] for one in rare), sum(one[1] for one in rare)))
    statistic = sum((count - expected) ** 2 / expected for expected, count in kept)
    return survival(statistic, len(kept) - 1)


def survival(statistic: float, degrees: int) -> float:
    """Return the upper tail of the chi-squared distribution, by its finite sum for whole degrees of freedom."""
    half = statistic / 2
    if degrees % 2 == 0:
        term = total = math.exp(-half)
        for i in range(1, degrees // 2):
            term *= half / i
            total += term
        return total
    total = math.erfc(math.sqrt(half))
    term = math.exp(-half) * math.sqrt(half) / math.gamma(1.5)
    for i in range(1, (degrees + 1) // 2):
        total += term
        term *= half / (i + 0.5)
    return total
