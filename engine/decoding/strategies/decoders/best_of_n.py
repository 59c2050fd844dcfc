"""Best of N: N samples of local masking, of which the most probable text has all the weight.

The others have no weight; a probability is the model's own, without the masks.

Guarantee: none; with N it comes closer to the most probable text.
Cost: that of N samples of local masking.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    from engine.decoding.strategies.particles import draw_under_masks  # start-up time: numpy

    draws = list(draw_under_masks(inquiry, samples, rng))
    best = max((draw for draw in draws if draw.is_accepted), key=lambda draw: draw.prefix.log_p, default=None)
    yield from (draw if draw is best else replace(draw, log_weight=-float("inf")) for draw in draws)


STRATEGY = DecodingStrategy("best-of-n", _draw)
