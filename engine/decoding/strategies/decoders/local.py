"""Local masking: every step removes the tokens that the grammar does not allow, and draws from the rest.

This is what engines do. A text w has the probability Π p(t) / Z_t, with Z_t the allowed mass of each step: texts are
preferred for the small Z on their path. −Σ ln Z_t is the price of a text.

Guarantee: none about p(text | grammar); it is exact where Z is the same along all paths.
Cost: one model call for each token; samples share the calls of equal prefixes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw, NextShares

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    from engine.decoding.strategies.particles import draw_under_masks  # start-up time: numpy

    return draw_under_masks(inquiry, samples, rng)


def _next_shares(_inquiry: Inquiry, _draws: Sequence[Draw]) -> NextShares:
    return lambda _prefix, allowed: allowed.shares


STRATEGY = DecodingStrategy("local", _draw, next_shares=_next_shares)
