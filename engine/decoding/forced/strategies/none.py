"""No fast-forward: the model is queried for each token of a forced run, under the mask."""

from __future__ import annotations

from engine.decoding.forced.run_strategy import RunStrategy

STRATEGY = RunStrategy("none")
