"""The budget, or the context of the model, is nearly used up."""

from __future__ import annotations

from engine.decoding.debugging.condition import Condition
from engine.decoding.values import Bounds

CONDITION = Condition(
    "budget", 16, 1, 1_000_000, lambda drawn, _limit: Bounds(drawn.left, drawn.left), is_below=True, lasts=True
)
