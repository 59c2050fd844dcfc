"""A language over bytes, as a value that is stepped purely.

What a piece of JSON (a number, a string, a literal) may look like is a language
of this form. Its states are opaque and hashable, so a configuration holds them
as they are.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, runtime_checkable


@runtime_checkable
class ByteLanguage(Protocol):
    """A deterministic automaton that is asked step by step and never stands at a dead end."""

    @property
    def start(self) -> Hashable | None:
        """The state before the first byte; None where nothing matches at all."""

    def step(self, state: Hashable, byte: int) -> Hashable | None:
        """The state after a byte; None where nothing completes what was read."""

    def accepts(self, state: Hashable) -> bool:
        """Whether the text may end here."""
