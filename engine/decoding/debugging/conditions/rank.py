"""The drawn token is not one that the model prefers."""

from __future__ import annotations

from engine.decoding.debugging.condition import RunCondition

CONDITION = RunCondition("rank", 10, 1, 1_000_000, lambda drawn, _limit: drawn.rank(), needs_model=True)
