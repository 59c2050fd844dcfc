"""Analyses of a grammar over a vocabulary: shortest completions in tokens, token budgets, and dead ends."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.analysis.dead_end_search import dead_ends

_MODULE_OF = {"dead_ends": "engine.analysis.dead_end_search"}

__all__ = ["dead_ends"]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
