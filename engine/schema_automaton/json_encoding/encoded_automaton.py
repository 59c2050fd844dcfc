"""Automata over letters, as they are spelled within a JSON string.

A state is the state of an automaton over letters, and the place within the
character that is being read. Its rows are not worked out byte by byte: they are
one gather of a vector through the table of the spelling (see `letter_spelling`).

Rejected: the spelling as a part of every atom. Each thread of a condition then
steps through bytes on its own, and a row costs thirty steps instead of three.
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
from engine.schema_automaton.json_encoding.alphabet import CharacterClasses
from engine.schema_automaton.json_encoding.class_encoder import ClassEncoding, class_encoding_of
from engine.source import checkpoint

_SHIFT: Final = 24
_PLACE: Final = (1 << _SHIFT) - 1


class EncodingPaths(NamedTuple):
    """Where the characters behind a state lead.

    Attributes:
        alive: of each place within a character whether it leads to a live state.
        targets: of each letter the state of the automaton over letters behind it; `DEAD` for none.
    """

    alive: list[bool]
    targets: list[int]


class CharacterAutomaton(Protocol):
    """An automaton over letters."""

    start: int
    classes: ByteClasses

    def step(self, configuration: int, byte_class: int, /) -> int:
        """The state after a letter of a class; `DEAD` where nothing completes it."""

    def row(self, configuration: int, /) -> list[int]:
        """The state after each class of letters."""

    def accepts(self, configuration: int, /) -> bool:
        """Whether the string may end here."""

    def is_free(self, configuration: int, /) -> bool:
        """Whether every string that goes on from here is accepted."""

    def min_remaining(self, place: int, alphabet: Alphabet = None, /) -> LengthBound:
        """What a state lacks, in bytes."""


class EncodedAutomaton:
    """An automaton over letters, read as JSON spells them.

    A state is `place << 24 | state`: the place within the character that is being read, 0 between two, and the state
    of the automaton over letters before that character. So it begins in that automaton's start, and ends nowhere else
    than between two characters. Within a character, states before it are one that lead to the same ones behind it.
    """

    def __init__(self, letters: CharacterClasses, inner: CharacterAutomaton, *, merges: bool = True) -> None:
        """Begin.

        Args:
            letters: what is spelled.
            inner: what reads it.
            merges: whether states before a character may be one within it; what they mean is then that of the first.
        """
        self.letters = letters
        self.inner = inner
        self._merges = merges
        self._first: dict[tuple[int, ...], int] = {}  # by a place, and where the letters that it may end in lead
        self.start = inner.start
        self._class_of = list(inner.classes.of_byte[: letters.size])
        self._ways: dict[int, EncodingPaths] = {}

    @cached_property
    def spelling(self) -> ClassEncoding:
        """How the letters are spelled."""
        return class_encoding_of(self.letters)

    @property
    def classes(self) -> ByteClasses:
        """The bytes of each class."""
        return self.spelling.classes

    @property
    def n_classes(self) -> int:
        """How many byte classes there are."""
        return len(self.classes)

    def ways(self, state: int) -> EncodingPaths:
        """Where the characters behind a state of the automaton over letters lead."""
        ways = self._ways.get(state)
        if ways is None:
            row = self.inner.row(state)
            targets = [row[each] for each in self._class_of]
            ways = self._ways[state] = EncodingPaths(self.spelling.alive(np.array(targets) != DEAD), targets)
        return ways

    def loops_at(self, state: int) -> bool:
        """Whether most bytes lead from between two characters to where some lead back to itself."""
        counts: dict[int, int] = {}
        for target, bytes_of in zip(self.ways(state).targets, self.spelling.bytes_of, strict=True):
            counts[target] = counts.get(target, 0) + bytes_of
        counts.pop(DEAD, None)
        home = max(counts, key=counts.__getitem__, default=DEAD)
        return home != DEAD and home in self.ways(home).targets

    def advance(self, state: int, byte: int) -> int:
        """The state after a byte; `DEAD` where nothing completes it."""
        entry = self.spelling.table.item(state >> _SHIFT, byte)
        if entry == 0:
            return DEAD
        at = state & _PLACE
        letter = entry - self.spelling.nodes
        if letter >= 0:
            return self.inner.step(at, self._class_of[letter])
        return self.entered(at, state >> _SHIFT, [entry])[0] if self.ways(at).alive[entry] else DEAD

    def step(self, state: int, byte_class: int) -> int:
        """The state after a byte of a class."""
        return self.advance(state, self.classes.representatives[byte_class])

    def run(self, state: int, data: bytes) -> int:
        """The state after all bytes."""
        for byte in data:
            if state == DEAD:
                break
            state = self.advance(state, byte)
        return state

    def some_strings(self, most: int) -> list[str]:
        """Strings that are accepted, at most so many: by a search that goes on where least is lacking.

        Of the ways to a state, so many are followed; they are strings that differ, and so do all that they become.
        """
        inner, firsts = self.inner, self.letters.firsts
        found: list[str] = []
        if inner.start == DEAD:
            return found
        ways = {inner.start: 1}  # how many lead to a state
        nearest = [(0, 0, inner.start, "")]
        met = 0
        while nearest:
            checkpoint()
            _, _, state, text = heappop(nearest)
            if inner.accepts(state):
                found.append(text)
                if len(found) == most:
                    break
            for each, following in enumerate(inner.row(state)):
                if following != DEAD and ways.get(following, 0) < most:
                    ways[following] = ways.get(following, 0) + 1
                    longer = text + chr(firsts[inner.classes.representatives[each]])
                    met += 1
                    heappush(nearest, (inner.min_remaining(following).at_least or 0, met, following, longer))
        return found

    def row(self, state: int) -> list[int]:
        """The state after each byte."""
        at, place = before(state), place_of(state)
        ways = self.ways(at)
        below = self.below(ways, place)
        inner = self.entered(at, place, below)
        row: list[int] = self.gather(place, below, inner, ways.targets, np.int64)[0].tolist()
        return row

    def below(self, ways: EncodingPaths, place: int) -> list[int]:
        """The places that are reached from a place and lead to a live state, nearest first.

        From between two characters only those that are reached by one byte.
        """
        return [each for each in self.spelling.below[place] if ways.alive[each]]

    def entered(self, at: int, place: int, below: list[int]) -> list[int]:
        """The states at live places that are reached from a place."""
        if place or not self._merges:
            return [within(at, each) for each in below]
        targets, narrow = self.ways(at).targets, self.spelling.narrow
        return [
            within(self._first.setdefault((each, *[targets[letter] for letter in narrow[each]]), at), each)
            if each in narrow
            else within(at, each)
            for each in below
        ]

    def gather(
        self, place: int, below: list[int], inner: list[int], behind: list[int], dtype: npt.DTypeLike = np.int32
    ) -> npt.NDArray[Any]:
        """What a place reads by each byte, and what those within a character do that are reached from it.

        Args:
            place: the place.
            below: those that are reached from it.
            inner: what stands for each of those.
            behind: what stands for each letter.
            dtype: the type of the result.

        Returns:
            dtype[rows, 256]; 0 where a byte cannot stand. Between two characters there is one row, and within one there
            are those of the places below, too.
        """
        spelling = self.spelling
        vector = np.zeros(spelling.nodes + len(behind), dtype)
        vector[below] = inner
        vector[spelling.nodes :] = behind
        return vector[spelling.table[[place, *below] if place else [place]]]

    def accepts(self, state: int) -> bool:
        """Whether the string may end here."""
        return is_between(state) and self.inner.accepts(state)

    def is_free(self, state: int) -> bool:
        """Whether this is between two characters, and every string that goes on from here is accepted."""
        return is_between(state) and self.inner.is_free(state)

    def min_remaining(self, state: int, alphabet: Alphabet = None) -> LengthBound:
        """What a state lacks at least, in bytes: exactly, where the automaton over letters knows it."""
        if state == DEAD or is_between(state):
            return self.inner.min_remaining(state, alphabet)
        costs = self.spelling.costs(alphabet)[state >> _SHIFT]
        best, exact = np.inf, True
        for letter, target in enumerate(self.ways(state & _PLACE).targets):
            if target != DEAD and costs[letter] < best:
                behind = self.inner.min_remaining(target, alphabet)
                exact &= behind.exact
                if behind.at_least is not None:
                    best = min(best, costs[letter] + behind.at_least)
        return LengthBound(None if best == np.inf else int(best), exact)


def within(before: int, place: int) -> int:
    """The state at a place within a character, where the automaton over letters stands before it."""
    return place << _SHIFT | before


def is_between(state: int) -> bool:
    """Whether a state is between two characters."""
    return state <= _PLACE


def before(state: int) -> int:
    """The state of the automaton over letters before the character that is being read."""
    return state & _PLACE


def place_of(state: int) -> int:
    """The place within the character that is being read, 0 between two."""
    return state >> _SHIFT
