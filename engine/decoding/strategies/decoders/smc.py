"""SMC with systematic resampling: particles that are moved by local masking, weighed by Π Z_t and resampled.

The number of samples is the number of particles N. See `engine.decoding.strategies.particles`.

Source: Lew et al. 2023, arXiv 2306.03081; Loula et al., ICLR 2025, arXiv 2504.13139.
Guarantee: exact as N grows; N = 1 is local masking. The mean weight is an unbiased estimate of P(grammar).
Cost: at most N model calls for each token, which are computed together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    from engine.decoding.strategies import particles  # start-up time: numpy

    return particles.draw_particles(inquiry, samples, rng, particles.advance_under_masks, particles.systematic_points)


STRATEGY = DecodingStrategy("smc", _draw)
