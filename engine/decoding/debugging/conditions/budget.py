"""The budget, or the context of the model, is nearly used up."""

from __future__ import annotations

from engine.decoding.debugging.condition import RunCondition
from engine.decoding.values import Bounds

CONDITION = RunCondition(
    "budget", 16, 1, 1_000_000, lambda drawn, _limit: Bounds(drawn.left, drawn.left), is_below=True, lasts=True
)
