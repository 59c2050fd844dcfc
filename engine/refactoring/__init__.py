"""Refactorings: changes of a grammar's text that keep its language, found by `REFACTORINGS` and proved by `proof`."""

from __future__ import annotations

from typing import Final

from engine.refactoring.refactoring import Refactoring
from engine.source.registry import Registry

REFACTORINGS: Final = Registry[Refactoring](
    "engine.refactoring.refactorings",
    "REFACTORING",
    order=(
        "inline-rule",
        "extract-rule",
        "factor-prefixes",
        "remove-left-recursion",
        "merge-all-of",
        "name-schema",
        "inline-reference",
        "upgrade-draft",
    ),
)
"""All refactorings, in the order of menus."""
