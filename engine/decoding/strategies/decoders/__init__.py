"""The strategies: each module of this package declares one as `STRATEGY`."""

from __future__ import annotations

from typing import Final

from engine.decoding.strategies.strategy import DecodingStrategy
from engine.source.registry import OTHERS, Registry

DECODERS: Final = Registry[DecodingStrategy](
    __name__,
    "STRATEGY",
    order=(
        "local",
        "greedy",
        "beam",
        "best-of-n",
        "rejection",
        "asap",
        "cars",
        "smc",
        "smc-multinomial",
        "awrs",
        "lookahead",
        OTHERS,
    ),
)
"""All strategies, in the order of lists; the first is what engines do."""
