"""The effect of each stage of the sampler, in order.

Every number is about the distribution that a stage receives: how many tokens could be drawn before it and not after it,
how much probability they had, and how much probability moved in total (the total variation distance). A temperature
removes nothing and moves much; a mask that removes mass z moves just as much. Stages are compared only by what they do
to logits, so a new one needs no code here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.decoding.processors import Logits, softmax
from engine.decoding.processors.logits import mass_of
from engine.decoding.values import StageEffect

_NO_MASS = -1_000.0  # a logit this far below the best one has a probability of 0


def waterfall(p: Logits, stages: Sequence[tuple[str, Logits]], p_last: Logits | None = None) -> tuple[StageEffect, ...]:
    """Return the effect of each stage.

    Args:
        p: the probabilities before the first stage, float64[W].
        stages: the name of each, and the logits after it, float64[W].
        p_last: the probabilities after the last stage, float64[W], if already known.
    """
    effects = []
    for number, (name, logits) in enumerate(stages, 1):
        after = p_last if p_last is not None and number == len(stages) else softmax(logits)
        could, can = p > 0, after > 0
        gone = could > can
        left = int(np.count_nonzero(can))
        effects.append(
            StageEffect(
                name=name,
                removed=int(np.count_nonzero(gone)),
                left=left,
                mass=min(1.0, mass_of(p, gone)),
                moved=_distance(p, after) if left and could.any() else _mass_of_either(p, after),
            )
        )
        p = after
    return tuple(effects)


def entropy(p: Logits, logits: Logits) -> float:
    """Return the entropy of `p = softmax(logits)`, nats, without a logarithm for each token.

    `ln p = logit - top - ln sum`, and the most probable token has `p = 1 / sum`.
    """
    if not logits.shape[0] or p[best := int(logits.argmax())] == 0:
        return 0.0
    below = logits - logits[best]
    np.maximum(below, _NO_MASS, out=below)  # 0 times -inf is NaN
    return max(0.0, -math.log(p[best]) - float(np.einsum("i,i->", p, below)))


def _distance(p: Logits, q: Logits) -> float:
    apart = p - q
    return min(1.0, 0.5 * float(np.abs(apart, out=apart).sum()))


def _mass_of_either(p: Logits, q: Logits) -> float:
    """Return the mass that moved if either distribution is empty: all of it."""
    return float(max(p.sum(), q.sum()))
