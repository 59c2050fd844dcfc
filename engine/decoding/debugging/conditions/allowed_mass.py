"""The grammar removes nearly all of the model's probability."""

from __future__ import annotations

from engine.decoding.debugging.condition import RunCondition

CONDITION = RunCondition(
    "allowed-mass",
    0.01,
    0.000001,
    1.0,
    lambda drawn, _limit: drawn.step.z_range,
    is_below=True,
    is_share=True,
    needs_model=True,
)
