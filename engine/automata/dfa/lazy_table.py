"""The base class of lazy automata: configurations interned on first use, steps as rows of an integer table.

An entry is computed when it is first requested, so a grammar costs only what its use
visits; kernels read the table and return only where an entry is missing.

Rejected: determinising ahead of time. `.{1,255}` over Unicode has thousands of
states, and a first mask needs five of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from engine.automata.actions import ActionTable
from engine.automata.byte_automaton import DEAD, MISS, Loop
from engine.automata.byte_classes import ByteClasses, ByteRanges, join_ranges
from engine.automata.completion import Alphabet, Completion, LengthBound, NextProperties
from engine.automata.completion_search import search_completion
from engine.grammar import TokenSet
from engine.source import CancelToken, Limits

Key = TypeVar("Key", bound=Hashable)


class LazyTable(ABC, Generic[Key]):
    """The part of a `ByteAutomaton` that does not depend on what configurations are. A key identifies one."""

    token_elements: frozenset[TokenSet] = frozenset()
    string_loops: tuple[Loop, ...] = ()

    def __init__(self, classes: ByteClasses, dead: Key, limits: Limits) -> None:
        self.classes = classes
        self.class_of_byte = np.frombuffer(classes.of_byte, dtype=np.uint8)
        self.n_classes = len(classes)
        self.start = DEAD
        self.actions = ActionTable()
        self._limits = self.limits = limits
        self._clear(dead)

    def _clear(self, dead: Key) -> None:
        self.rows: npt.NDArray[np.int32] = np.full((16, self.n_classes), MISS, dtype=np.int32)
        self.rows[DEAD] = DEAD
        self.accepting: npt.NDArray[np.uint8] = np.zeros(16, dtype=np.uint8)
        self._keys: list[Key] = [dead]
        self._ids: dict[Key, int] = {dead: DEAD}

    @property
    def size(self) -> int:
        """Return the number of configurations interned so far, including `DEAD`."""
        return len(self._keys)

    def step(self, configuration: int, byte_class: int) -> int:
        """Return the configuration after a byte of the class; `DEAD` if it has no completion."""
        following = int(self.rows[configuration, byte_class])
        if following == MISS:
            following = self._follow(configuration, byte_class)
            self.rows[configuration, byte_class] = following
        return following

    def row(self, configuration: int) -> list[int]:
        """Return the configuration after each byte class."""
        self.complete(configuration)
        row: list[int] = self.rows[configuration].tolist()
        return row

    def run(self, configuration: int, data: bytes) -> int:
        """Return the configuration after all bytes."""
        classes = self.classes.of_byte
        for byte in data:
            if configuration == DEAD:
                break
            configuration = self.step(configuration, classes[byte])
        return configuration

    def accepts(self, configuration: int) -> bool:
        """Return whether the text may end here."""
        return bool(self.accepting[configuration])

    def expected(self, configuration: int) -> ByteRanges:
        """Return the bytes that may come next, as inclusive ranges."""
        row = self.row(configuration)
        return join_ranges(self.classes.ranges[i] for i, following in enumerate(row) if following != DEAD)

    def token_sets(self, configuration: int) -> frozenset[TokenSet]:
        """Return the token sets of which one token may come next as a unit: none."""
        return frozenset()

    def take_token(self, configuration: int, data: bytes, takes: Callable[[TokenSet], bool]) -> int:
        """Return the configuration after a token's bytes; `DEAD` if it has none.

        Args:
            configuration: the configuration.
            data: the token's bytes.
            takes: whether the token belongs to a set.
        """
        return self.run(configuration, data) if data else DEAD

    def min_remaining(self, configuration: int, alphabet: Alphabet = None) -> LengthBound:
        """Return 0 if the text may end, otherwise at least one byte."""
        if configuration == DEAD:
            return LengthBound(None, exact=True)
        return LengthBound.of(accepting=self.accepts(configuration), at_least=1, exact=False)

    def shortest_completion(
        self, configuration: int, effort: int, cancel: CancelToken | None = None, alphabet: Alphabet = None
    ) -> Completion:
        """Return the shortest text that completes a match, as far as a search of `effort` steps finds it.

        Args:
            configuration: the configuration.
            effort: the largest number of steps.
            cancel: cancels the search.
            alphabet: the bytes to use; None for all.
        """
        return search_completion(self, configuration, effort, cancel, alphabet)

    def split_stacks(self, configuration: int, most: int) -> tuple[int, ...]:
        """Return the configuration itself."""
        return (configuration,) if configuration != DEAD else ()

    def next_properties(self, configuration: int) -> NextProperties:
        """Return no properties: this is not JSON."""
        return NextProperties()

    def open_rules(self, configuration: int) -> tuple[str, ...]:
        """Return no rules: nothing has a name."""
        return ()

    # ------------------------------------------------------------------ no frames: configurations are lexer states

    def cursor(self, configuration: int) -> int:
        """Return the configuration itself."""
        return configuration

    def advance(self, configuration: int, byte: int) -> int | None:
        """Return the configuration after a byte; None if it has no completion."""
        return self.step(configuration, self.classes.of_byte[byte]) or None

    def stack_top(self, configuration: int, depth: int) -> tuple[int, list[int]]:
        """Return the configuration itself, and no frames."""
        return configuration, []

    def fill(self, state: int, byte_class: int) -> None:
        """Compute an entry."""
        self.step(state, byte_class)

    def complete(self, state: int) -> None:
        """Compute a whole row."""
        for byte_class in range(self.n_classes):
            self.step(state, byte_class)

    def stack_action(self, frame: int, symbol: int) -> int:
        """Raise an error: there are no frames."""
        raise AssertionError((frame, symbol))

    return_action = stack_action

    def loop_at(self, state: int) -> Loop | None:
        """Return None: no loop is known beforehand."""
        return None

    generation = 0

    def evict_states(self) -> None:
        """Do nothing: the states are the configurations."""

    def widen(self, state: int, longest: int) -> int:
        """Return the state itself."""
        return state

    def may_have_loop(self, state: int) -> bool:
        """Return True: every state may."""
        return True

    @abstractmethod
    def _follow(self, configuration: int, byte_class: int) -> int:
        """Compute a step: a live configuration, or `DEAD`."""

    @abstractmethod
    def _is_accepting(self, key: Key) -> bool:
        """Return whether the text may end at a configuration."""

    def _intern(self, key: Key) -> int:
        number = self._ids.get(key)
        if number is None:
            number = len(self._keys)
            self._limits.check("errors.limit.configurations", number, self._limits.configurations, "configurations")
            if number == len(self.rows):
                self._grow()
            self._ids[key] = number
            self._keys.append(key)
            self.accepting[number] = self._is_accepting(key)
        return number

    def _grow(self) -> None:
        rows = np.full((2 * len(self.rows), self.n_classes), MISS, dtype=np.int32)
        rows[: len(self.rows)] = self.rows
        accepting = np.zeros(len(rows), dtype=np.uint8)
        accepting[: len(self.accepting)] = self.accepting
        self.rows, self.accepting = rows, accepting
