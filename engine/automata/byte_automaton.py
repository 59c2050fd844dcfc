"""The protocol of automata that a matcher can run: regular, recursive, or the automaton of a schema."""

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
    """A loop over characters that a lexer state is equivalent to, until the lexeme ends.

    Attributes:
        first, last: the lexer states of the loop, which are numbered in a run; the first is its home.
        least, most: the bounds of the characters before the lexeme ends; None for no bound.
        marked: whether some texts leave the loop for other states, in which the lexeme may end otherwise.
    """

    first: int
    last: int
    least: int = 0
    most: int | None = None
    marked: bool = False


class ByteAutomaton(Protocol):
    """A byte automaton that is determinised lazily.

    Only live configurations, those that some text completes, have a number other than `DEAD`. The automaton grows as
    it is used, in one thread.

    A vocabulary walk looks inside: a configuration is a lexer state and a stack of frames. While the top frame reads,
    `rows` has the transitions of the lexer state; where the lexeme ends, `actions` says how the stack changes. A
    regular automaton has no frames, and its lexer states are its configurations.

    Attributes:
        classes: the bytes of each class.
        class_of_byte: uint8[256], the byte class of each byte.
        n_classes: the number of byte classes.
        start: the configuration before the first byte; `DEAD` if the language is empty.
        rows: int32[capacity, n_classes], the next lexer state; `MISS` where it is not computed, `DEAD` where the
            byte is not allowed, `-2 - symbol` where it ends the lexeme. Growth replaces the array: read it anew.
        actions: the stack actions computed so far.
        accepting: uint8[capacity], 1 where the text may end. Growth replaces it too.
        generation: grows whenever lexer states are renumbered.
        token_elements: the sets of tokens that the grammar names, which bytes alone cannot match; mostly none.
        string_loops: the loops of JSON strings, which all schemas share: that of names, which may be marked and
            counted, and that of unconstrained values, if it is another; none if there are no strings.
        limits: the limits of steps and searches.
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
        """Return the table of lexer states."""

    @property
    def actions(self) -> ActionTable:
        """Return the stack actions computed so far."""

    @property
    def accepting(self) -> npt.NDArray[np.uint8] | bytearray:
        """Return the flags of configurations in which the text may end."""

    @property
    def size(self) -> int:
        """Return the number of configurations interned so far, including `DEAD`."""

    def step(self, configuration: int, byte_class: int) -> int:
        """Return the configuration after a byte of the class; `DEAD` if it has no completion."""

    def row(self, configuration: int) -> list[int]:
        """Return the configuration after each byte class."""

    def run(self, configuration: int, data: bytes) -> int:
        """Return the configuration after all bytes; `DEAD` if it has no completion."""

    def accepts(self, configuration: int) -> bool:
        """Return whether the text may end here."""

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Return the source locations of what may come next."""

    def edge_spans(self, configuration: int, byte_class: int) -> tuple[Span, ...]:
        """Return the source locations of what reads a byte of the class."""

    def expected(self, configuration: int) -> ByteRanges:
        """Return the bytes that may come next, as inclusive ranges."""

    def token_sets(self, configuration: int) -> frozenset[TokenSet]:
        """Return the token sets of which one token may come next as a unit."""

    def take_token(self, configuration: int, data: bytes, takes: Callable[[TokenSet], bool]) -> int:
        """Return the configuration after a token.

        Args:
            configuration: the configuration before it.
            data: the token's bytes; empty if it has none.
            takes: whether a token set contains the token, which may then be taken as a unit.
        """

    def cursor(self, configuration: int) -> Any:
        """Return a configuration as a cursor for `advance`, which interns nothing, so a search leaves no trace."""

    def advance(self, cursor: Any, byte: int) -> Any | None:
        """Return a cursor after a byte; None if it has no completion."""

    def stack_top(self, configuration: int, depth: int) -> tuple[int, list[int]]:
        """Return the lexer state of a configuration, and up to `depth` frames of its stack, the top first."""

    def fill(self, state: int, byte_class: int) -> None:
        """Compute a missing entry of `rows`."""

    def complete(self, state: int) -> None:
        """Compute a whole row."""

    def stack_action(self, frame: int, symbol: int) -> int:
        """Compute the stack action of a frame whose lexeme ends with a symbol; `NEEDS_TEXT` if the text decides."""

    def return_action(self, frame: int, number: int) -> int:
        """Compute the frame that continues below one that ends; `NEEDS_TEXT` if the text decides."""

    def loop_at(self, state: int) -> Loop | None:
        """Return the loop that a lexer state is equivalent to, if it is one of the shared loops."""

    def min_remaining(self, cursor: Any, alphabet: Alphabet = None) -> LengthBound:
        """Return bounds of the bytes that complete a cursor, without a search."""

    def shortest_completion(
        self, configuration: int, effort: int, cancel: CancelToken | None = None, alphabet: Alphabet = None
    ) -> Completion:
        """Return the shortest text that completes a match, if a search of at most `effort` steps finds it.

        Args:
            configuration: the configuration to complete.
            effort: the most steps of the search.
            cancel: cancels the search.
            alphabet: the bytes that the text may contain; None for all.
        """

    def split_stacks(self, configuration: int, most: int) -> tuple[int, ...]:
        """Return one configuration for each stack of the match; the stacks beyond `most` are one configuration."""

    def next_properties(self, configuration: int) -> NextProperties:
        """Return the properties of an object that may come next; none outside of JSON."""

    def open_rules(self, configuration: int) -> tuple[str, ...]:
        """Return the names of the open rules, the innermost first; none if nothing has a name."""

    def evict_states(self) -> None:
        """Drop lexer states if there are too many. No walk may be in progress."""

    def widen(self, state: int, longest: int) -> int:
        """Return a state that is equivalent for inputs of up to `longest` bytes; often the state itself."""

    def may_have_loop(self, state: int) -> bool:
        """Return whether a lexer state may be in a loop that `loop_at` does not know."""
