"""One decision where the source returns a part of its distribution.

A server lists its best tokens (see `LogitSource.logits`). What follows from a list is computed, the rest is unknown or
has bounds, and a token is drawn here only from a distribution that is known. A mask often makes it so: inside a
grammar, the few allowed tokens are listed or have been priced. Top-k, top-p and min-p often do too, since they keep
tokens that are listed. Some sources say what mass the allowed tokens have together and which are the best of them:
then a draw is that of the full distribution wherever the others cannot change it, and else the mass of all tokens below
an id and the prices of those around it decide it (`SplitDraw`). Else the source itself draws under the mask.

The probability of an unknown token is at most that of the last listed one, and all of them together have the mass that
is not listed. So of n unknown tokens with mass m, of which a are allowed, the allowed ones have a mass of at most
`min(m, a * most)` and at least `m - (n - a) * most`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.decoding.answer import Answer, WeighedMask
from engine.decoding.processors import Logits, Masking, Shape, log_sum_exp, mask, softmax
from engine.decoding.processors.logits import padded
from engine.decoding.processors.partial_logits import PartialLogits, PartialShape
from engine.decoding.processors.shaping import RepetitionPenalty
from engine.decoding.sampler import Allowed, Decision, decide, draw_point, sampler_shapes
from engine.decoding.values import Bounds, SamplerSettings, StageEffect, Unknown
from engine.models.source import MASS_ERROR

_ROUNDING = 1e-6  # the error of the sum of float32 log-probabilities' exponentials


def decide_answer(
    answer: Answer,
    allowed: Allowed,
    history: Sequence[int],
    settings: SamplerSettings,
    stages: Iterable[tuple[str, Shape]] | None = None,
) -> Decision:
    """Compute the distributions of one step; see `decide`.

    Args:
        answer: the answer of the source.
        allowed: bool[V], the mask; ids beyond it are not allowed.
        history: the ids so far, prompt included.
        settings: the sampler's settings.
        stages: the stages between the model and the draw, in order.
    """
    if stages is not None:
        stages = tuple(stages)
    if answer.most is None and not (answer.is_shifted and _needs_logits(stages, settings)):
        return decide(answer.logits, allowed, history, settings, stages)
    row = _row(answer.logits, answer.most, allowed.shape[0])
    wide = padded(allowed, row.logits.shape[0])
    p, under = np.exp(row.logits), row.masked(wide)
    z_bounds = _mass_bounds(p, row, under, wide)
    log_z = None
    if under.is_known:
        log_z = min(log_sum_exp(under.logits), 0.0)
    elif answer.weighed is not None and np.array_equal(answer.weighed.allowed, allowed):
        log_z = answer.weighed.log_mass
        under = _weighed(under, answer.weighed)
    elif 0 < z_bounds.high <= z_bounds.low * (1 + MASS_ERROR):
        log_z = math.log((z_bounds.low + z_bounds.high) / 2)
    z = None if log_z is None else math.exp(log_z)
    given = row
    if log_z == -np.inf:  # if the model rules out all allowed tokens, they are equally likely
        given = under = PartialLogits(mask(np.zeros_like(p), wide))
    if stages is None:
        stages = (("mask", Masking(wide)), *sampler_shapes(settings).items())
    passed, left, stopped_at = _through_stages(given, under, stages)
    p_sampled = _sampled(left, settings, is_known=not stopped_at)
    p_sampled[~wide] = 0.0
    can_sample = not bool(np.isnan(p_sampled.max(initial=0.0)))
    if settings.is_greedy and can_sample:
        passed.append(("greedy", mask(np.zeros_like(p_sampled), p_sampled > 0)))
    emptied_by = next((name for name, logits in passed if logits.max(initial=-np.inf) == -np.inf), "")
    return Decision(
        logits=row.logits,
        allowed=wide,
        p=p,
        p_masked=_under_mask(p, under, wide, z),
        p_sampled=p_sampled,
        z=z,
        kl=None if log_z is None else -log_z + 0.0,
        stages=tuple(passed),
        masked=under.logits,
        emptied_by=emptied_by if wide.any() else "",
        unknown=_unknown(row, z_bounds if z is None else Bounds(z, z), stopped_at, can_sample=can_sample),
        left=left if not stopped_at else None,
    )


def effects(decision: Decision) -> tuple[StageEffect, ...]:
    """Return the effect of each stage, as `waterfall` does, with None for what depends on unknown tokens.

    If only known tokens are left after a stage, the others had all the rest of the mass, known or not.
    """
    before: Logits | None = decision.p
    found = []
    for name, logits in decision.stages:
        if np.isnan(logits.max(initial=-np.inf)):
            before = None
            found.append(StageEffect(name, None, None, None, None))
            continue
        after = softmax(logits)
        can = after > 0
        removed, mass, moved, left = None, None, None, int(np.count_nonzero(can))
        if before is not None:
            mass = min(1.0, max(0.0, 1.0 - float(before[can].sum())))
            moved = min(1.0, 0.5 * (mass + float(np.abs(before[can] - after[can]).sum())))
            if not np.isnan(before.max(initial=0.0)):
                removed = int(np.count_nonzero((before > 0) > can))
        found.append(StageEffect(name, removed, left, mass, moved))
        before = after
    return tuple(found)


def _needs_logits(stages: Iterable[tuple[str, Shape]] | None, settings: SamplerSettings) -> bool:
    """Return whether a stage needs the model's own logits, without a constant added to them."""
    shapes = sampler_shapes(settings).values() if stages is None else (shape for _, shape in stages)
    return any(isinstance(shape, RepetitionPenalty) for shape in shapes)


def _row(logits: NDArray[np.floating[Any]], most: float | None, width: int) -> PartialLogits:
    """Return the logits, at least `width` of them, with the bounds of those that are unknown."""
    given = logits.shape[0]
    row = np.full(max(width, given), -np.inf)
    row[:given] = logits
    unknown = np.isnan(row)
    count, rest = float(np.count_nonzero(unknown)), 1.0 - float(np.exp(row[~unknown]).sum())
    if most is None or not count:
        return PartialLogits(row)
    scale = math.exp(most)  # it may be 0: servers write -9999 for a token that cannot come
    if not scale:
        return PartialLogits(row, most, 0.0, count)
    least, greatest = (min(count, max(0.0, rest + error) / scale) for error in (-_ROUNDING, _ROUNDING))
    return PartialLogits(row, most, least, greatest)


def _mass_bounds(p: Logits, row: PartialLogits, under: PartialLogits, allowed: Allowed) -> Bounds:
    """Return bounds of the allowed mass."""
    if row.n_unknown and row.n_unknown == under.n_unknown and not p[~allowed].any():
        return Bounds(1.0, 1.0)
    known = float(p[allowed & (p > 0)].sum())
    low, high = (min(1.0, known + mass) for mass in under.sum_relative_to(0.0))
    return Bounds(low, high)


def _weighed(under: PartialLogits, weighed: WeighedMask) -> PartialLogits:
    """Return masked logits with the bounds that follow from the mass of all of them."""
    mass = math.exp(weighed.log_mass)
    rest, error = mass - float(np.exp(under.logits[under.logits > -np.inf]).sum()), MASS_ERROR * mass
    scale, count = math.exp(weighed.most), float(under.n_unknown)
    least, most = (min(count, max(0.0, rest + by) / scale) for by in (-error, error))
    return PartialLogits(under.logits, weighed.most, least, most)


def _under_mask(p: Logits, under: PartialLogits, allowed: Allowed, z: float | None) -> Logits:
    if under.is_known:
        return softmax(under.logits)
    return np.where(allowed & (p != 0), np.nan if z is None else p / z, 0.0)


def _through_stages(
    given: PartialLogits, under: PartialLogits, stages: Iterable[tuple[str, Shape]]
) -> tuple[list[tuple[str, Logits]], PartialLogits, str]:
    """Return the logits after each stage that can be applied, the last of them, and the first that cannot be.

    Args:
        given: the logits.
        under: the logits after all masks, of which more may be known than follows from `given`.
        stages: the stages.
    """
    passed, left, is_masked_alone = list[tuple[str, Logits]](), given, True
    for name, shape in stages:
        following = _shaped(shape, left)
        if following is None:
            return passed, left, name
        left, is_masked_alone = following, is_masked_alone and isinstance(shape, Masking)
        if is_masked_alone and np.array_equal(left.logits == -np.inf, under.logits == -np.inf):
            left = under
        passed.append((name, left.logits))
    return passed, left, ""


def _shaped(shape: object, given: PartialLogits) -> PartialLogits | None:
    return shape.on_partial(given) if isinstance(shape, PartialShape) else None


def _sampled(left: PartialLogits, settings: SamplerSettings, *, is_known: bool) -> Logits:
    """Return the distribution of the draw, NaN where unknown, given what the last stage left."""
    unknown = np.where(left.logits == -np.inf, 0.0, np.nan)
    if not is_known:
        return unknown
    if not settings.is_greedy:
        return softmax(left.logits) if left.is_known else _shares(left)
    if left.top == -np.inf or left.top < left.most:
        return np.zeros_like(unknown) if left.is_known else unknown
    best = np.zeros_like(unknown)
    best[int(np.nanargmax(left.logits))] = 1.0
    return best


def _shares(left: PartialLogits) -> Logits:
    """Return the probabilities of the known tokens if that of all unknown ones together is known, else NaN."""
    level = max(left.top, left.most)
    weights = np.exp(left.logits - level)
    least, most = left.sum_relative_to(level)
    total = float(np.nansum(weights)) + (least + most) / 2
    if most - least > 3 * MASS_ERROR * total:
        return np.where(left.logits == -np.inf, 0.0, np.nan)
    return np.asarray(weights / total)


def sure_draw(left: PartialLogits, seed: int, index: int) -> int | None:
    """Return the token that a draw takes; None if that depends on how unknown tokens share their probability.

    It is `Decision.draw`: the first token at which the sum over all ids up to it exceeds a random part of the total.

    Args:
        left: the logits after the last stage; `least_sum` and `most_sum` bound what the unknown tokens have.
        seed: the seed of the draws.
        index: the index of the step.
    """
    level, is_unknown = max(left.top, left.most), np.isnan(left.logits)
    sums = np.cumsum(np.where(is_unknown, 0.0, np.exp(left.logits - level)))
    least, most = left.sum_relative_to(level)
    each, before = float(np.exp(left.most - level)), np.cumsum(is_unknown)
    low = sums + np.maximum(0.0, least - each * (before[-1] - before))
    high = sums + np.minimum(most, each * before)
    part = draw_point(seed, index)
    margin = MASS_ERROR * float(sums[-1] + most)
    after = np.flatnonzero(low > part * (sums[-1] + most) + margin)[:1]  # the point is certainly before its end
    if not after.shape[0] or is_unknown[after[0]]:
        return None
    is_sure = after[0] == 0 or high[after[0] - 1] < part * (sums[-1] + least) - margin
    return int(after[0]) if is_sure else None


class SplitDraw:
    """The draw of `sure_draw`, which the mass of all tokens below some id and the tokens around that id decide.

    Args:
        left: the logits after the last stage, which are log-probabilities.
        seed: the seed of the draws.
        index: the index of the step.

    Attributes:
        split: the id, near to which the draw's point is if the unknown tokens are as probable as one another.
    """

    def __init__(self, left: PartialLogits, seed: int, index: int) -> None:
        is_unknown = np.isnan(left.logits)
        self._sums = np.cumsum(np.where(is_unknown, 0.0, np.exp(left.logits)))
        rest, before = sum(left.sum_relative_to(0.0)) / 2, np.cumsum(is_unknown)
        total = float(self._sums[-1]) + rest
        self._point, self._margin = draw_point(seed, index) * total, 2 * MASS_ERROR * total
        self.split = int(np.searchsorted(self._sums + rest * before / max(1, before[-1]), self._point, side="right"))

    def span(self, below: float) -> tuple[int, int]:
        """Return the ids between which the drawn token is, the second one excluded.

        Args:
            below: the mass of all tokens below `split`.
        """
        known_below = float(self._sums[self.split - 1]) if self.split else 0.0
        # The sums of the known tokens alone grow more slowly than those of all.
        passed = np.searchsorted(self._sums, known_below + self._point - below + self._margin, side="right")
        reached = np.searchsorted(self._sums, known_below + self._point - below - self._margin, side="right")
        return min(int(reached), self.split), max(int(passed) + 1, self.split)

    def drawn(self, left: PartialLogits, below: float) -> int | None:
        """Return the drawn token; None if it is too near to the next one.

        Args:
            left: the logits, in which the tokens of `span` are known.
            below: the mass of all tokens below `split`.
        """
        first, last = self.span(below)
        sums = np.cumsum(np.exp(left.logits[first:last]))  # NaN from the first unknown one on
        sums += below - (float(sums[self.split - first - 1]) if self.split > first else 0.0)
        at = int(np.searchsorted(sums, self._point, side="right"))
        if np.isnan(sums).any() or at >= sums.shape[0] or sums[at] < self._point + self._margin:
            return None
        begin = float(sums[at - 1]) if at else below - float(np.exp(left.logits[first : self.split]).sum())
        return first + at if begin < self._point - self._margin or first + at == 0 else None


def _unknown(row: PartialLogits, z: Bounds, stopped_at: str, *, can_sample: bool) -> Unknown:
    known = row.logits[row.logits > -np.inf]
    own, left = -float(np.einsum("i,i->", np.exp(known), known)) + 0.0, row.n_unknown
    low = high = own
    masses = row.sum_relative_to(0.0)
    if left:
        # The unknown tokens have the least entropy if as few as possible share their mass, the most if all do.
        low += masses[0] * -row.most
        high += masses[1] * math.log(left / masses[1]) if masses[1] else 0.0
    return Unknown(
        known=row.logits.shape[0] - left,
        left=left,
        listed=int(np.count_nonzero(known >= row.most)),
        mass=Bounds(*masses),
        most=math.exp(row.most) if left else 0.0,
        z=z,
        entropy=Bounds(low, high),
        stopped_at=stopped_at,
        can_sample=can_sample,
    )
