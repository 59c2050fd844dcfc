"""Beam search: at each step the N most probable prefixes that the grammar allows, where N is the number of samples.

The texts that are left are weighed by their probabilities, as if the others had none.

Guarantee: none; the most probable text may be lost with its prefix.
Cost: at most N model calls for each token of the longest text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def search_beam(inquiry: Inquiry, width: int) -> Iterator[Draw]:
    """Yield the texts that a beam of some width ends with, the most probable first."""
    import numpy as np  # start-up time

    beam = [inquiry.tree.root]
    while open_ones := [prefix for prefix in beam if prefix.is_open]:
        found = [prefix for prefix in beam if prefix.is_complete]
        for prefix, allowed in zip(open_ones, inquiry.allowed_of_all(open_ones), strict=True):
            best = np.argsort(-allowed.shares, kind="stable")[:width]
            found += [inquiry.take(prefix, allowed, int(index)) for index in best]
        alive = [prefix for prefix in found if prefix.is_open or prefix.is_complete]
        beam = sorted(alive, key=lambda prefix: -prefix.log_p)[:width]
    yield from (Draw(prefix, prefix.is_complete, log_weight=prefix.log_p) for prefix in beam)


def _draw(inquiry: Inquiry, samples: int, _rng: np.random.Generator) -> Iterator[Draw]:
    return search_beam(inquiry, samples)


STRATEGY = DecodingStrategy("beam", _draw)
