"""Greedy: the most probable allowed token at each step: one text, whatever the seed and the number of samples.

Guarantee: none; another text may be more probable.
Cost: one model call for each token.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.decoding.strategies.decoders.beam import search_beam
from engine.decoding.strategies.strategy import DecodingStrategy, Draw

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, _samples: int, _rng: np.random.Generator) -> Iterator[Draw]:
    return search_beam(inquiry, 1)


STRATEGY = DecodingStrategy("greedy", _draw)
