"""What a matcher needs of whatever runs a grammar, be it regular, recursive, or a schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.automata.byte_classes import ByteClasses, ByteRanges
from engine.grammar import TokenSet
from engine.source import Span

DEAD = 0
"""The configuration that nothing completes."""

MISS = -1
"""A table entry that is not computed yet."""


class Runtime(Protocol):
    """A byte automaton that determinises itself step by step.

    Only live configurations, those that some text completes, have a number other than `DEAD`. It grows as it is
    used, in one thread.

    Attributes:
        classes: the bytes of each class.
        class_of_byte: uint8[256], the byte class of each byte.
        n_classes: how many byte classes there are.
        start: the configuration before the first byte; `DEAD` where the language is empty.
        rows: int32[capacity, n_classes], the next configuration; `MISS` where it is not computed,
            `DEAD` where the byte cannot stand. Growth replaces the array: read it anew after a step.
        accepting: uint8[capacity], 1 where the text may end. Growth replaces it too.
        token_elements: the sets of tokens that the grammar names, which bytes alone cannot match; mostly none.
    """

    classes: ByteClasses
    class_of_byte: npt.NDArray[np.uint8]
    n_classes: int
    start: int
    rows: npt.NDArray[np.int32]
    accepting: npt.NDArray[np.uint8]
    token_elements: frozenset[TokenSet]

    @property
    def size(self) -> int:
        """Configurations interned so far, `DEAD` included."""

    def step(self, configuration: int, byte_class: int) -> int:
        """The configuration after a byte of the class; `DEAD` where nothing completes it."""

    def fill_row(self, configuration: int) -> None:
        """Compute a whole row."""

    def run(self, configuration: int, data: bytes) -> int:
        """The configuration after all bytes."""

    def accepts(self, configuration: int) -> bool:
        """Whether the text may end here."""

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Where in the source the match stands: what may come next."""

    def edge_spans(self, configuration: int, byte_class: int) -> tuple[Span, ...]:
        """What in the source reads a byte of the class."""

    def expected(self, configuration: int) -> ByteRanges:
        """The bytes that may come next, as inclusive ranges."""

    def token_sets(self, configuration: int) -> frozenset[TokenSet]:
        """The sets of which one token, taken whole, may come next."""

    def take_token(self, configuration: int, data: bytes, takes: Callable[[TokenSet], bool]) -> int:
        """The configuration after a token: as its bytes, none where it has none, and whole, where `takes` says so."""
