"""The strategies for forced runs: each module of this package declares one as `STRATEGY`."""

from __future__ import annotations

from typing import Final

from engine.decoding.forced.run_strategy import RunStrategy
from engine.source.registry import Registry

STRATEGIES: Final = Registry[RunStrategy](__name__, "STRATEGY", order=("none", "longest", "own", "probable"))
"""All strategies, in the order of lists. The first one takes no runs, and the costs of others are compared with its."""

OFF: Final = "none"
"""The name of the strategy of a new document."""

PREFERRED: Final = "own"
"""The name of the strategy that switching fast-forward on selects."""
