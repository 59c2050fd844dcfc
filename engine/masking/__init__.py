"""Where a text stands in a grammar and which tokens may come next, as fast as a copy.

What needs numpy is loaded with its first use: the window shows explanations, and computes no mask.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from engine.masking.explanation import Explanation, Reason

if TYPE_CHECKING:
    from engine.masking.dead_end_search import dead_ends
    from engine.masking.matcher import Matcher
    from engine.masking.runtime import warm
    from engine.masking.token_automaton import clear_caches

_HOME_OF = {
    "Matcher": "engine.masking.matcher",
    "clear_caches": "engine.masking.token_automaton",
    "dead_ends": "engine.masking.dead_end_search",
    "warm": "engine.masking.runtime",
}

__all__ = ["Explanation", "Matcher", "Reason", "clear_caches", "dead_ends", "warm"]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
