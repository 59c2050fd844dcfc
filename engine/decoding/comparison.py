"""Two settings compared by their outputs: shares and means with intervals of 95%, and whether they differ.

A share has Wilson's interval (1927), which also holds near 0 and 1; the difference of two shares of independent outputs
has Newcombe's (1998, method 10), which is made of these; the difference of two means has Welch's. Two answers to the
same questions are compared by those in which they differ: McNemar's test, exact, by the binomial distribution.

"Differs" says that 0 is not in the interval of one measure. It is not corrected for the number of measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, fsum, hypot, isfinite, sqrt
from typing import Final

from engine.decoding.values import Bounds, Finish, SampleOutcome

_NORMAL: Final = 1.959963984540054  # the quantile 0.975
_LEAST: Final = 2  # values of a mean with an interval


@dataclass(frozen=True, slots=True)
class ComparedMeasure:
    """A measure of two sets of outputs.

    Attributes:
        name: `finished`, `matching`, `tokens` or `price` (-ln of the allowed mass, summed over an output, in nats).
        is_share: whether it is a share of the outputs, not a mean.
        first, second: its values.
        difference: the interval of the second without the first; None if there are too few outputs.
    """

    name: str
    is_share: bool
    first: float
    second: float
    difference: Bounds | None

    @property
    def differs(self) -> bool:
        """Return whether a difference was shown: 0 is not in the interval."""
        return self.difference is not None and not self.difference.low <= 0 <= self.difference.high


def share_interval(count: int, total: int) -> Bounds:
    """Return Wilson's interval of a share; everything from 0 to 1 without outputs."""
    if not total:
        return Bounds(0.0, 1.0)
    share, square = count / total, _NORMAL**2 / total
    half = _NORMAL * sqrt(share * (1 - share) / total + square / (4 * total))
    low, high = ((share + square / 2 + sign * half) / (1 + square) for sign in (-1, 1))
    return Bounds(max(low, 0.0) if count else 0.0, min(high, 1.0) if count < total else 1.0)


def share_difference(first: tuple[int, int], second: tuple[int, int]) -> Bounds:
    """Return Newcombe's interval of the second share without the first; both are a count and a total."""
    one, other = share_interval(*first), share_interval(*second)
    p, q = (count / total if total else 0.5 for count, total in (first, second))
    low = q - p - hypot(q - other.low, one.high - p)
    return Bounds(max(low, -1.0), min(q - p + hypot(other.high - q, p - one.low), 1.0))


def mean_difference(first: Sequence[float], second: Sequence[float]) -> Bounds | None:
    """Return Welch's interval of the second mean without the first; None with fewer than two values of one."""
    if min(len(first), len(second)) < _LEAST:
        return None
    means, errors = [], []
    for values in (first, second):
        mean = fsum(values) / len(values)
        means.append(mean)
        errors.append(fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
    total, difference = sum(errors), means[1] - means[0]
    if not total:
        return Bounds(difference, difference)
    degrees = total**2 / sum(
        error**2 / (len(values) - 1) for error, values in zip(errors, (first, second), strict=True)
    )
    half = _student(degrees) * sqrt(total)
    return Bounds(difference - half, difference + half)


def _student(degrees: float) -> float:
    """Return the quantile 0.975 of Student's distribution (Abramowitz and Stegun 26.7.5), which is close from 3 on."""
    z, v = _NORMAL, max(degrees, 1.0)
    terms: tuple[float, ...] = (
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4),
    )
    return z + fsum(terms)


def paired_p_value(only_first: int, only_second: int) -> float:
    """Return the p-value of McNemar's exact test, by how many questions only one of two ways answers right."""
    total = only_first + only_second
    tail = sum(comb(total, index) for index in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / (1 << total))


def compare_outcomes(first: Sequence[SampleOutcome], second: Sequence[SampleOutcome]) -> tuple[ComparedMeasure, ...]:
    """Compare the outputs of two settings; prices only if they are known of all outputs.

    Args:
        first: the outputs of one setting, one at least.
        second: those of the other.
    """
    found = []
    for name in ("finished", "matching"):
        mine, other = (_count(name, outcomes) for outcomes in (first, second))
        difference = share_difference(mine, other)
        found.append(ComparedMeasure(name, True, mine[0] / mine[1], other[0] / other[1], difference))
    for name in ("tokens", "price"):
        values, others = (_values(name, outcomes) for outcomes in (first, second))
        if values and others:
            means = fsum(values) / len(values), fsum(others) / len(others)
            found.append(ComparedMeasure(name, False, means[0], means[1], mean_difference(values, others)))
    return tuple(found)


def _count(name: str, outcomes: Sequence[SampleOutcome]) -> tuple[int, int]:
    """Return how many outputs finished or match, and how many there are."""
    holding = (one.matches if name == "matching" else one.finish is Finish.STOP for one in outcomes)
    return sum(holding), len(outcomes)


def _values(name: str, outcomes: Sequence[SampleOutcome]) -> list[float]:
    """Return the tokens or the prices of outputs; none unless all are known."""
    values = [float(one.tokens) if name == "tokens" else one.price for one in outcomes]
    known = [value for value in values if value is not None and isfinite(value)]
    return known if len(known) == len(values) else []
