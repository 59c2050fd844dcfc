"""Rejection: draw from the model without a grammar, and start again if the text is not in the language.

An attempt ends with the first token that the grammar does not allow.

Guarantee: exact: every accepted text is a sample of p(text | grammar).
Cost: 1 / P(grammar) attempts for a sample; equal prefixes are asked about once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, _samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    from engine.decoding.strategies.prefix_tree import drawn_index  # start-up time: numpy

    while True:
        prefix, is_legal = inquiry.tree.root, True
        while is_legal and prefix.is_open:
            allowed = inquiry.allowed(prefix)
            point = rng.random() / allowed.z if allowed.z else 1.0
            is_legal = point < 1
            if is_legal:
                prefix = inquiry.take(prefix, allowed, drawn_index(allowed.shares, point))
        is_accepted = is_legal and prefix.is_complete
        yield Draw(prefix, is_accepted, log_ratio=0.0 if is_accepted else -float("inf"))


STRATEGY = DecodingStrategy("rejection", _draw, draws_until_accepted=True)
