"""Analyses over a vocabulary: shortest completions in tokens, what a token budget allows, dead ends."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.analysis.dead_end_search import dead_ends

_HOME_OF = {"dead_ends": "engine.analysis.dead_end_search"}

__all__ = ["dead_ends"]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
