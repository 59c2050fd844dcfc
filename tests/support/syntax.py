"""The syntax trees of sources, which many tests of the architecture walk."""

from __future__ import annotations

import ast
import gc
from functools import cache


@cache
def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a source, which nobody may change.

    A tree is all references and no garbage: the collector, which would look at it again and again, is off meanwhile.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if was_enabled:
            gc.enable()
