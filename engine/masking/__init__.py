"""Token masks: the automaton over a vocabulary, its compiled kernels, the mask cache and the reference mask.

`Matcher`, the public interface to masks, is in `engine.matching`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.masking.token_automaton import clear_caches

_MODULE_OF = {"clear_caches": "engine.masking.token_automaton"}

__all__ = ["clear_caches"]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
