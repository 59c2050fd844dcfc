"""Automata over character classes, applied to the JSON encoding of a string.

A state is the state of an automaton over character classes, and the node within the
encoding of the character that is being read. Its rows are not computed byte by byte:
each is one gather of a vector through the table of the encoding (see `class_encoder`).

Rejected: the encoding as a part of every character instruction. Each thread of a
condition then steps through bytes on its own, and a row costs thirty steps instead of three.
"""

from __future__ import annotations

from functools import cached_property
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, LengthBound
from engine.schema_automaton.json_encoding.character_classes import CharacterClasses
from engine.schema_automaton.json_encoding.class_encoder import ClassEncoding, class_encoding_of
from engine.source import checkpoint

_SHIFT: Final = 24
_STATE_MASK: Final = (1 << _SHIFT) - 1


class EncodingPaths(NamedTuple):
    """The transitions of a state over whole characters.

    Attributes:
        alive: for each node within a character, whether it leads to a live state.
        targets: for each character class, the state of the automaton after it; `DEAD` for none.
    """

    alive: list[bool]
    targets: list[int]


class CharacterAutomaton(Protocol):
    """An automaton over character classes."""

    start: int
    classes: ByteClasses

    def step(self, configuration: int, byte_class: int, /) -> int:
        """Return the state after a class of characters; `DEAD` if it has no completion."""

    def row(self, configuration: int, /) -> list[int]:
        """Return the state after each class of characters."""

    def accepts(self, configuration: int, /) -> bool:
        """Return whether the string may end here."""

    def is_free(self, configuration: int, /) -> bool:
        """Return whether every continuation of the string is accepted."""

    def min_remaining(self, configuration: int, alphabet: Alphabet = None, /) -> LengthBound:
        """Return bounds of the bytes that complete a state."""


class EncodedAutomaton:
    """An automaton over character classes that reads their JSON encoding.

    A state is `node << 24 | state`: the node within the encoding of the current character, 0 between characters, and
    the state of the automaton over character classes before that character. So it starts in that automaton's start
    state, and accepts only between two characters. Within a character, states that lead to the same states after it are
    merged.
    """

    def __init__(self, char_classes: CharacterClasses, inner: CharacterAutomaton, *, merges: bool = True) -> None:
        """Create the automaton.

        Args:
            char_classes: the character classes.
            inner: the automaton over them.
            merges: whether states before a character may be merged within it; source locations and other properties are
                then those of the first.
        """
        self.char_classes = char_classes
        self.inner = inner
        self._merges = merges
        self._first: dict[tuple[int, ...], int] = {}  # by node and the states that its character classes lead to
        self.start = inner.start
        self._class_of = list(inner.classes.of_byte[: char_classes.size])
        self._paths: dict[int, EncodingPaths] = {}

    @cached_property
    def encoding(self) -> ClassEncoding:
        """Return the encoding of the character classes."""
        return class_encoding_of(self.char_classes)

    @property
    def classes(self) -> ByteClasses:
        """Return the bytes of each byte class."""
        return self.encoding.classes

    @property
    def n_classes(self) -> int:
        """Return the number of byte classes."""
        return len(self.classes)

    def paths(self, state: int) -> EncodingPaths:
        """Return the transitions over whole characters from a state of the automaton over character classes."""
        paths = self._paths.get(state)
        if paths is None:
            row = self.inner.row(state)
            targets = [row[each] for each in self._class_of]
            paths = self._paths[state] = EncodingPaths(self.encoding.alive(np.array(targets) != DEAD), targets)
        return paths

    def loops_at(self, state: int) -> bool:
        """Return whether most single-byte characters lead to a state that has a transition to itself."""
        counts: dict[int, int] = {}
        for target, bytes_of in zip(self.paths(state).targets, self.encoding.bytes_of, strict=True):
            counts[target] = counts.get(target, 0) + bytes_of
        counts.pop(DEAD, None)
        home = max(counts, key=counts.__getitem__, default=DEAD)
        return home != DEAD and home in self.paths(home).targets

    def advance(self, state: int, byte: int) -> int:
        """Return the state after a byte; `DEAD` if it has no completion."""
        entry = self.encoding.table.item(state >> _SHIFT, byte)
        if entry == 0:
            return DEAD
        at = state & _STATE_MASK
        char_class = entry - self.encoding.nodes
        if char_class >= 0:
            return self.inner.step(at, self._class_of[char_class])
        return self.entered(at, state >> _SHIFT, [entry])[0] if self.paths(at).alive[entry] else DEAD

    def step(self, state: int, byte_class: int) -> int:
        """Return the state after a byte of a class."""
        return self.advance(state, self.classes.representatives[byte_class])

    def run(self, state: int, data: bytes) -> int:
        """Return the state after all bytes."""
        for byte in data:
            if state == DEAD:
                break
            state = self.advance(state, byte)
        return state

    def some_strings(self, most: int) -> list[str]:
        """Return up to `most` accepted strings, as `shortest_strings` finds them."""
        return shortest_strings(self.inner, self.char_classes, most)

    def row(self, state: int) -> list[int]:
        """Return the state after each byte."""
        at, node = before(state), node_within(state)
        paths = self.paths(at)
        below = self.below(paths, node)
        inner = self.entered(at, node, below)
        row: list[int] = self.gather(node, below, inner, paths.targets, np.int64)[0].tolist()
        return row

    def below(self, paths: EncodingPaths, node: int) -> list[int]:
        """Return the nodes that are reached from a node and lead to a live state, nearest first.

        From between two characters, only those that one byte reaches.
        """
        return [each for each in self.encoding.below[node] if paths.alive[each]]

    def entered(self, at: int, node: int, below: list[int]) -> list[int]:
        """Return the states at live nodes that are reached from a node.

        Args:
            at: the state of the automaton over classes before the character.
            node: the node, 0 between two characters.
            below: the nodes that are reached from it, as `below` returns them.
        """
        if node or not self._merges:
            return [within(at, each) for each in below]
        targets, narrow = self.paths(at).targets, self.encoding.narrow
        return [
            within(
                self._first.setdefault((each, *[targets[char_class] for char_class in narrow[each]]), at),
                each,
            )
            if each in narrow
            else within(at, each)
            for each in below
        ]

    def gather(
        self, node: int, below: list[int], inner: list[int], after: list[int], dtype: npt.DTypeLike = np.int32
    ) -> npt.NDArray[Any]:
        """Fill the row of a node, and those of the nodes within the character that are reached from it.

        Args:
            node: the node.
            below: the nodes that are reached from it.
            inner: the entry for each of those.
            after: the entry for the end of a character, by class.
            dtype: the type of the result.

        Returns:
            dtype[rows, 256]; 0 where a byte is not allowed. Between two characters there is one row; within one the
            rows of the nodes below follow.
        """
        spelling = self.encoding
        vector = np.zeros(spelling.nodes + len(after), dtype)
        vector[below] = inner
        vector[spelling.nodes :] = after
        return vector[spelling.table[[node, *below] if node else [node]]]

    def accepts(self, state: int) -> bool:
        """Return whether the string may end here."""
        return is_between(state) and self.inner.accepts(state)

    def is_free(self, state: int) -> bool:
        """Return whether this is between two characters, and every continuation of the string is accepted."""
        return is_between(state) and self.inner.is_free(state)

    def min_remaining(self, state: int, alphabet: Alphabet = None) -> LengthBound:
        """Return a lower bound of the bytes that complete a state, exact if the automaton over classes knows it."""
        if state == DEAD or is_between(state):
            return self.inner.min_remaining(state, alphabet)
        costs = self.encoding.costs(alphabet)[state >> _SHIFT]
        best, exact = np.inf, True
        for char_class, target in enumerate(self.paths(state & _STATE_MASK).targets):
            if target != DEAD and costs[char_class] < best:
                after = self.inner.min_remaining(target, alphabet)
                exact &= after.exact
                if after.at_least is not None:
                    best = min(best, costs[char_class] + after.at_least)
        return LengthBound(None if best == np.inf else int(best), exact)


def shortest_strings(automaton: CharacterAutomaton, char_classes: CharacterClasses, most: int) -> list[str]:
    """Return up to `most` accepted strings, by a best-first search for the shortest completion.

    At most `most` paths to each state are followed; their strings differ, and so do all continuations.

    Args:
        automaton: the automaton.
        char_classes: the classes that it reads; each is represented by its first character.
        most: the largest number of strings.
    """
    firsts = char_classes.firsts
    found: list[str] = []
    if automaton.start == DEAD:
        return found
    paths = {automaton.start: 1}  # the number of paths to a state
    nearest = [(0, 0, automaton.start, "")]
    met = 0
    while nearest:
        checkpoint()
        _, _, state, text = heappop(nearest)
        if automaton.accepts(state):
            found.append(text)
            if len(found) == most:
                break
        for each, following in enumerate(automaton.row(state)):
            if following != DEAD and paths.get(following, 0) < most:
                paths[following] = paths.get(following, 0) + 1
                longer = text + chr(firsts[automaton.classes.representatives[each]])
                met += 1
                heappush(nearest, (automaton.min_remaining(following).at_least or 0, met, following, longer))
    return found


def within(before: int, node: int) -> int:
    """Return the state at a node within a character that was begun in a state of the automaton over classes."""
    return node << _SHIFT | before


def is_between(state: int) -> bool:
    """Return whether a state is between two characters."""
    return state <= _STATE_MASK


def before(state: int) -> int:
    """Return the state of the automaton over character classes before the current character."""
    return state & _STATE_MASK


def node_within(state: int) -> int:
    """Return the node within the current character, 0 between two characters."""
    return state >> _SHIFT
