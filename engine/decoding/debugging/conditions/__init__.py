"""The conditions of breakpoints: each module of this package declares one as `CONDITION`."""

from __future__ import annotations

from typing import Final

from engine.decoding.debugging.condition import RunCondition
from engine.source.registry import Registry

CONDITIONS: Final = Registry[RunCondition](
    __name__, "CONDITION", order=("allowed-mass", "rank", "stacks", "loop", "budget")
)
"""All conditions, in the order of menus."""
