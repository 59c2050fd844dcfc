"""What a matcher needs of whatever runs a grammar, be it regular, recursive, or a schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from engine.automata.actions import MISS, ActionTable
from engine.automata.byte_classes import ByteClasses, ByteRanges
from engine.automata.completion import Alphabet, Completion, LengthBound, NextProperties
from engine.grammar import TokenSet
from engine.source import CancelToken, Limits, Span

__all__ = ["DEAD", "MISS", "ByteAutomaton", "Loop"]

DEAD = 0
"""The configuration that nothing completes."""


class Loop(NamedTuple):
    """A loop that a reading state reads like, as long as the reading does not end.

    Attributes:
        first, last: the reading states of the loop, which are numbered in one run; the first is its home.
        least, most: how many characters must and may come before the reading ends; None for any number.
        marked: whether other states follow on some ways, with which the reading may end otherwise.
    """

    first: int
    last: int
    least: int = 0
    most: int | None = None
    marked: bool = False


class ByteAutomaton(Protocol):
    """A byte automaton that determinises itself step by step.

    Only live configurations, those that some text completes, have a number other than `DEAD`. It grows as it is
    used, in one thread.

    What walks a vocabulary looks inside: a configuration is a reading state and a stack of frames. While the top
    frame reads, `rows` say how the reading state changes; where its reading ends, `actions` say what becomes of the
    stack. A regular automaton has no frames, and its reading states are its configurations.

    Attributes:
        classes: the bytes of each class.
        class_of_byte: uint8[256], the byte class of each byte.
        n_classes: how many byte classes there are.
        start: the configuration before the first byte; `DEAD` where the language is empty.
        rows: int32[capacity, n_classes], the next reading state; `MISS` where it is not computed, `DEAD` where the
            byte cannot stand, `-2 - symbol` where it ends the reading. Growth replaces the array: read it anew.
        actions: what becomes of frames, as far as it is known.
        accepting: uint8[capacity], 1 where the text may end. Growth replaces it too.
        generation: grows whenever reading states get other numbers.
        token_elements: the sets of tokens that the grammar names, which bytes alone cannot match; mostly none.
        string_loops: the loops of JSON strings, which all schemas share: that of names, which is marked and counted,
            and that of values without conditions, where it is another; none where there are no strings.
        limits: how far steps and searches may go.
    """

    limits: Limits
    classes: ByteClasses
    class_of_byte: npt.NDArray[np.uint8]
    n_classes: int
    start: int
    generation: int
    token_elements: frozenset[TokenSet]
    string_loops: tuple[Loop, ...]

    @property
    def rows(self) -> npt.NDArray[np.int32]:
        """The table of reading states."""

    @property
    def actions(self) -> ActionTable:
        """What becomes of frames."""

    @property
    def accepting(self) -> npt.NDArray[np.uint8] | bytearray:
        """Where the text may end."""

    @property
    def size(self) -> int:
        """Configurations interned so far, `DEAD` included."""

    def step(self, configuration: int, byte_class: int) -> int:
        """The configuration after a byte of the class; `DEAD` where nothing completes it."""

    def row(self, configuration: int) -> list[int]:
        """The configuration after each byte class."""

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

    def cursor(self, configuration: int) -> Any:
        """A configuration as `follow` takes it: not interned, so that a search leaves no trace."""

    def advance(self, place: Any, byte: int) -> Any | None:
        """What `enter` gave, after a byte; None where nothing completes it."""

    def stack_top(self, configuration: int, depth: int) -> tuple[int, list[int]]:
        """The reading state of a configuration, and up to `depth` frames of its stack, the top first."""

    def fill(self, state: int, byte_class: int) -> None:
        """Work out a missing entry of `rows`."""

    def complete(self, state: int) -> None:
        """Work out a whole row."""

    def stack_action(self, frame: int, symbol: int) -> int:
        """Work out what becomes of a frame whose reading ends with a symbol."""

    def return_action(self, frame: int, number: int) -> int:
        """Work out the frame that goes on below one that ends; `-ASK` where the text decides."""

    def loop_at(self, state: int) -> Loop | None:
        """The loop that a reading state reads like, if there is one that is known beforehand."""

    def min_remaining(self, place: Any, alphabet: Alphabet = None) -> LengthBound:
        """What a place, as `enter` and `follow` give it, lacks; nothing is searched."""

    def shortest_completion(
        self, configuration: int, effort: int, cancel: CancelToken | None = None, alphabet: Alphabet = None
    ) -> Completion:
        """The shortest text that completes a match, as far as a search finds out that may take so many steps."""

    def split_stacks(self, configuration: int, most: int) -> tuple[int, ...]:
        """One configuration for each stack that the match stands on; behind `most` of them the rest as one."""

    def next_properties(self, configuration: int) -> NextProperties:
        """The properties of an object that may come next; none outside of JSON."""

    def open_rules(self, configuration: int) -> tuple[str, ...]:
        """The names of the rules that are open, the innermost first; none where nothing has a name."""

    def evict_states(self) -> None:
        """Where reading states have become too many, forget some. Not in the midst of a walk."""

    def widen(self, state: int, longest: int) -> int:
        """A reading state from which texts of up to so many bytes are read alike; often the state itself."""

    def may_have_loop(self, state: int) -> bool:
        """Whether a reading state may be in a loop that `region` does not know."""
