"""The targets: each module of this package declares one as `TARGET`, under the name of the module."""

from __future__ import annotations

from typing import Final

from engine.export.target import ExportError, Target, TargetGroup
from engine.source.registry import Registry

TARGETS: Final = Registry[Target](
    __name__,
    "TARGET",
    order=(
        *("json", "safetensors", "python", "transformers", "vllm", "bumblebee"),
        *("gbnf", "ebnf", "lark", "regex", "requests"),
        *("svg", "png", "dot", "graphml", "jflap"),
    ),
)
"""All targets."""


def grouped_targets() -> list[Target]:
    """Return all targets in the order of the lists that users see: by their groups."""
    return sorted(TARGETS, key=lambda found: tuple(TargetGroup).index(found.group))


def target(name: str) -> Target:
    """Return the target of a name.

    Raises:
        ExportError: there is none of that name.
    """
    if name not in TARGETS:
        raise ExportError("errors.export.targets.unknown", name=repr(name), names=", ".join(TARGETS.names))
    return TARGETS[name]
