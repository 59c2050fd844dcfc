"""AWRS (adaptive weighted rejection sampling) inside SMC: a token is checked only once it was drawn, without a mask.

Tokens are drawn from the model's distribution, and illegal ones removed from it, until one is legal: it is a sample
under the mask. The factor of the weight is an unbiased estimate of Z from one more search for a legal token, which
goes on without the illegal ones of the first. With m_0 = 1 and m_k the mass that is left without the first k illegal
tokens of both searches, n in all, it is 1 / Σ_{k=0..n} 1/m_k.

Why it is unbiased: whether the very first token was legal is an unbiased estimate of Z. Given the illegal tokens in
their order, the first legal one comes after k of them with a probability in proportion to 1/m_k, and the estimate above
is the probability of k = 0 (Rao-Blackwell). Which legal token it was is independent of all that, so the weighted sample
is proper. Where nothing is removed from the distribution it is the known 1/(n + 1).

Source: Lipkin et al., COLM 2025, arXiv 2504.05410, for the two searches; the estimate is derived here.
Guarantee: as SMC, with noisier weights.
Cost: model calls as SMC; a few checks for each token, where a mask checks the whole vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    from engine.decoding.strategies.particles import draw_particles, systematic_points  # start-up time: numpy
    from engine.decoding.strategies.weighted_rejection import advance_by_checks  # start-up time: numpy

    return draw_particles(inquiry, samples, rng, advance_by_checks, systematic_points)


STRATEGY = DecodingStrategy("awrs", _draw, needs_rows=True)
