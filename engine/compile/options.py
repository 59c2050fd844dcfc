"""What a compile can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from engine.source import Limits

NOTATIONS = ("regex",)
"""The notations that compile, by the names that the command line and documents use."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of a compile; a notation ignores those of another.

    Attributes:
        dialect: of a regex: `python` as in the `re` module, or `ecma` as in ECMAScript with the u flag.
        limits: how far the compile and the steps after it may go.
    """

    dialect: Literal["python", "ecma"] = "python"
    limits: Limits = field(default_factory=Limits)
