"""Token masks: the automaton over a vocabulary, its compiled kernels, the cache of masks and the reference mask.

`Matcher`, which users hold, is in `engine.matching`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.masking.token_automaton import clear_caches

_HOME_OF = {"clear_caches": "engine.masking.token_automaton"}

__all__ = ["clear_caches"]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
