"""CARS (constrained adaptive rejection sampling): rejection that draws no prefix again that is known to be illegal.

A trie has the mass that may still be legal after each prefix (`RemainingMass`). An attempt draws from the model without
what is known to be illegal; where it comes to a new prefix, it draws from the whole distribution, learns which tokens
are illegal there, and fails if it drew one of them.

Source: Parys et al., arXiv 2510.01902.
Guarantee: exact: every accepted text is a sample of p(text | grammar), since each attempt draws from the model given
that no known illegal prefix comes up, and illegal texts are rejected.
Cost: the share of accepted attempts only grows, from P(grammar) to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, _samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    from engine.decoding.strategies.prefix_tree import drawn_index  # start-up time: numpy
    from engine.decoding.strategies.remaining_mass import RemainingMass  # start-up time: numpy

    remaining = RemainingMass(inquiry)
    while remaining.of_root > 0:
        prefix, is_legal = inquiry.tree.root, True
        while is_legal and prefix.is_open:
            allowed = inquiry.allowed(prefix)
            shares = remaining.shares(prefix, allowed)
            point = rng.random()
            if not remaining.has_seen(prefix):
                point = point / allowed.z if allowed.z else 1.0
            is_legal = point < 1
            if is_legal:
                prefix = inquiry.take(prefix, allowed, drawn_index(shares, point))
        is_accepted = is_legal and prefix.is_complete
        ratio = log(remaining.of_root) if is_accepted else -float("inf")
        remaining.learn(prefix)
        yield Draw(prefix, is_accepted, log_ratio=ratio)


STRATEGY = DecodingStrategy("cars", _draw, draws_until_accepted=True)
