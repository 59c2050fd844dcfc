"""Logits of which some are unknown, and what masks, biases and filters make of them.

A server returns the best 20 tokens of a vocabulary and nothing of the others. What is known of those is little, and
often enough: each is at most as probable as the last of the list, and together they have the rest of the mass. Masks
reduce how many they are, filters such as top-p remove all of them where the list covers what is kept, and a temperature
scales the bounds. Where a result depends on more than that, it is None, and nobody guesses.

Rejected: evaluating a stage on two completions, one with no unknown mass and one with as much as possible. That is
sound only for stages that are monotone in every unknown logit, which a temperature above 1 before top-p is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from engine.decoding.processors.logits import Allowed, Logits, mask

_MARGIN = 1e-6
"""The relative error of sums of log-probabilities in float32: nothing is decided that depends on less."""


@dataclass(frozen=True, slots=True, eq=False)
class PartialLogits:
    """A row of logits, up to a constant; the unknown ones are NaN.

    Attributes:
        logits: float64[W].
        most: no unknown logit is above this.
        least_sum: a lower bound of the sum of `exp(logit - most)` over the unknown logits.
        most_sum: an upper bound of it; at most the number of unknown logits.
    """

    logits: Logits
    most: float = -np.inf
    least_sum: float = 0.0
    most_sum: float = 0.0

    @property
    def n_unknown(self) -> int:
        """The number of unknown logits."""
        return int(np.count_nonzero(np.isnan(self.logits)))

    @property
    def is_known(self) -> bool:
        """True if no logit is unknown."""
        return not np.isnan(self.logits.max(initial=-np.inf))

    @property
    def top(self) -> float:
        """The highest known logit; `-inf` without one."""
        return float(np.fmax.reduce(self.logits, initial=-np.inf))

    def sum_relative_to(self, level: float) -> tuple[float, float]:
        """Return bounds of the sum of `exp(logit - level)` over the unknown logits; `level` is not below `most`."""
        scale = float(np.exp(self.most - level)) if self.most > -np.inf else 0.0
        return self.least_sum * scale, self.most_sum * scale

    def masked(self, allowed: Allowed) -> PartialLogits:
        """Remove all tokens but those of a mask, bool[W]."""
        logits = mask(self.logits, allowed)
        logits[~allowed] = -np.inf  # NaN and -inf add up to NaN
        left = int(np.count_nonzero(np.isnan(logits)))
        if not left:
            return PartialLogits(logits)
        least = max(0.0, self.least_sum - (self.n_unknown - left))
        return PartialLogits(logits, self.most, least, min(self.most_sum, float(left)))

    def plus(self, added: Logits) -> PartialLogits:
        """Add numbers to the logits, float64[W]; `-inf` removes a token."""
        removed = np.isneginf(added)
        if removed.any():
            return self.masked(~removed).plus(np.where(removed, 0.0, added))
        of_unknown = added[np.isnan(self.logits)]
        if not of_unknown.shape[0]:
            return PartialLogits(self.logits + added)
        low, high = float(of_unknown.min()), float(of_unknown.max())
        # The bound rises by `high`, so a sum in units of the bound falls to `exp(low - high)` of it at least.
        return PartialLogits(self.logits + added, self.most + high, self.least_sum * np.exp(low - high), self.most_sum)

    def divided(self, degree: float) -> PartialLogits:
        """Divide the logits by a temperature above 0."""
        level, power, count = max(self.top, self.most), 1.0 / degree, self.n_unknown
        least, most = self.least_sum, self.most_sum
        # Each summand is in 0 to 1 and is raised to a power; if that makes them smaller, the least sum is that of equal
        # summands, and the greatest has not grown; else it is the other way round.
        if power >= 1:
            least = count * (least / count) ** power
        else:
            most = min(count * (most / count) ** power, float(count))
        return PartialLogits((self.logits - level) / degree, (self.most - level) / degree, least, most)

    def best(self, count: int) -> PartialLogits | None:
        """Keep the `count` highest logits; None if unknown ones may be among them."""
        known = self.logits[self.logits > -np.inf]  # NaN is not above
        if count >= known.shape[0] + self.n_unknown:
            return self
        if count > known.shape[0]:
            return None
        lowest = float(np.partition(known, -count)[-count])
        return self._without_unknown(self.logits >= lowest) if lowest > self.most else None

    def nucleus(self, mass: float) -> PartialLogits | None:
        """Keep the smallest set of tokens whose mass reaches p; None if unknown ones may be in it."""
        top, known = self.top, np.flatnonzero(self.logits > -np.inf)
        if top <= self.most:
            return None
        order = known[np.lexsort((known, -self.logits[known]))]
        sums = np.cumsum(np.exp(self.logits[order] - top))
        least, most = self.sum_relative_to(top)
        counts = {
            int(np.searchsorted(sums, mass * total)) + 1
            for total in ((sums[-1] + least) * (1 - _MARGIN), (sums[-1] + most) * (1 + _MARGIN))
        }
        count = max(counts)
        if len(counts) > 1 or count > order.shape[0] or self.logits[order[count - 1]] <= self.most:
            return None
        kept = np.zeros(self.logits.shape[0], dtype=np.bool_)
        kept[order[:count]] = True
        return self._without_unknown(kept)

    def likely(self, share: float) -> PartialLogits | None:
        """Keep tokens with at least a share of the best one's probability; None if unknown ones may have it."""
        top = self.top
        if top <= self.most or np.exp(self.most - top) * (1 + _MARGIN) >= share:
            return None
        return self._without_unknown(np.exp(self.logits - top) >= share)

    def _without_unknown(self, kept: Allowed) -> PartialLogits:
        """Keep known tokens, bool[W], and remove all others."""
        return PartialLogits(np.where(kept, self.logits, -np.inf))


@runtime_checkable
class PartialShape(Protocol):
    """A function of a row of logits that can be applied where some are unknown.

    The known logits are log-probabilities, which are the model's logits up to a constant. So a function whose effect
    changes with a constant that is added to all logits does not have this method, and neither need one of an extension:
    then a step with a partial source is refused while it is on.
    """

    def on_partial(self, given: PartialLogits) -> PartialLogits | None:
        """Return what it makes of a row; None if that depends on what is unknown."""
        ...
