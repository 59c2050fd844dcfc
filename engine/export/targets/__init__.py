"""The targets by name, each in the module of its name, imported at its first use.

The order is that of the lists that users see.
"""

from __future__ import annotations

import importlib
from typing import Final

from engine.export.target import ExportError, Target

TARGETS: Final = (
    # Runs elsewhere
    "json",
    "safetensors",
    "python",
    "transformers",
    "vllm",
    "bumblebee",
    # Text
    "gbnf",
    "ebnf",
    "lark",
    "regex",
    "requests",
    # Pictures and graphs
    "svg",
    "png",
    "dot",
    "graphml",
    "jflap",
)
"""Their names; `a-b` is the module `a_b`, which has the target as `TARGET`."""


def target(name: str) -> Target:
    """Return the target of a name.

    Raises:
        ExportError: there is none of that name.
    """
    if name not in TARGETS:
        raise ExportError(f"there is no export target {name!r}; there are {', '.join(TARGETS)}")
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    found: Target = module.TARGET
    return found
