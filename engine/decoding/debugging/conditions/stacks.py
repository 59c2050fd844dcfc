"""The output can be read in many ways: the stacks that the window lists."""

from __future__ import annotations

from engine.decoding.debugging.condition import RunCondition

CONDITION = RunCondition("stacks", 10, 1, 1_000, lambda drawn, limit: drawn.stacks(int(limit)), lasts=True)
