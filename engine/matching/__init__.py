"""`Matcher`, which says what tokens may come next in a text, and `Explanation`, which says why.

Modules that need numpy are imported on first use: the window shows explanations without computing masks.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from engine.matching.explanation import Explanation, Reason

if TYPE_CHECKING:
    from engine.masking.jit import warm
    from engine.matching.matcher import Matcher

_HOME_OF = {"Matcher": "engine.matching.matcher", "warm": "engine.masking.jit"}

__all__ = ["Explanation", "Matcher", "Reason", "warm"]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
