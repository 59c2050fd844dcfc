"""`Matcher`, which computes the tokens allowed next, and `Explanation`, which says why a token is or is not allowed.

Modules that need numpy are imported on first use: the window shows explanations without computing masks.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from engine.matching.explanation import Explanation, Reason

if TYPE_CHECKING:
    from engine.matching.matcher import Matcher
    from engine.matching.warmup import warm

_MODULE_OF = {"Matcher": "engine.matching.matcher", "warm": "engine.matching.warmup"}

__all__ = ["Explanation", "Matcher", "Reason", "warm"]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
