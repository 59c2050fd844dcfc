"""ASAp (adaptive sampling with approximate expected futures): local masking that learns which prefixes lead nowhere.

Each allowed token is weighed by its probability times the expected future after it: an upper bound of the probability
that the continuation is in the language, which draws lower (`RemainingMass`). The first sample is that of local
masking.

Source: Park et al., NeurIPS 2024, arXiv 2405.21047.
Guarantee: exact in the limit of many samples; the first samples may be further off than local masking.
Cost: one model call for each token of a new prefix; no attempt is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw, NextShares

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    from engine.decoding.strategies.prefix_tree import drawn_index  # start-up time: numpy
    from engine.decoding.strategies.remaining_mass import RemainingMass  # start-up time: numpy

    remaining = RemainingMass(inquiry)
    for _ in range(samples):
        prefix, log_ratio = inquiry.tree.root, 0.0
        while prefix.is_open:
            allowed = inquiry.allowed(prefix)
            shares = remaining.shares(prefix, allowed)
            total = float(shares.sum())
            if not total:
                break
            index = drawn_index(shares, rng.random())
            log_ratio += allowed.log_z + log(allowed.shares[index]) - log(shares[index] / total)
            prefix = inquiry.take(prefix, allowed, index)
        remaining.learn(prefix)
        yield Draw(prefix, prefix.is_complete, log_ratio=log_ratio if prefix.is_complete else -float("inf"))


def _next_shares(inquiry: Inquiry, draws: Sequence[Draw]) -> NextShares:
    from engine.decoding.strategies.remaining_mass import RemainingMass  # start-up time: numpy

    return RemainingMass.after(inquiry, draws).shares


STRATEGY = DecodingStrategy("asap", _draw, next_shares=_next_shares)
