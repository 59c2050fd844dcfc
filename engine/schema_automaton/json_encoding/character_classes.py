"""Partitions of the Unicode characters into classes that no condition on a string distinguishes.

A condition reads characters, not bytes, and mostly distinguishes a handful of sets of
them. The classes of that partition are the alphabet of the condition's automaton; how a
character is encoded within a JSON string is the same for all conditions (see
`class_encoder`). So the many bytes that a character may take do not multiply what
conditions cost.

A character class ("char_class" in the code) is a number below 256, so automata over
character classes use the machinery of automata over bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.automata.byte_classes import ByteClasses
from engine.automata.utf8 import FINAL, Utf8Automaton
from engine.grammar import CharSet
from engine.grammar.charset import EVERY_SCALAR
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.source import check_cancelled

MOST_CLASSES: Final = 256

Segments: TypeAlias = tuple[tuple[int, int, int], ...]
"""`(first, last, class)` in ascending order; together they cover the scalar values."""


class CharacterClasses:
    """A partition of the Unicode scalar values. Classes are numbered in the order of their first characters.

    Results about an automaton over character classes include the bytes that complete a state, and these depend on the
    encoding. So classes with other escapes are other classes: no table of one is used for the other.

    Attributes:
        segments: the ranges of characters, each with its class.
        size: the number of classes.
        escapes: the escapes that may encode the characters.
    """

    def __init__(self, segments: Segments, size: int, escapes: Escapes) -> None:
        self.segments = segments
        self.size = size
        self.escapes = escapes
        self._firsts = [first for first, _, _ in segments]
        self._automata: dict[CharSet, Utf8Automaton] = {}

    @cached_property
    def classes(self) -> ByteClasses:
        """Return a byte class for each character class; larger bytes, which are never read, join the last one."""
        of_byte = bytes(min(char_class, self.size - 1) for char_class in range(256))
        ranges = tuple(((char_class, char_class),) for char_class in range(self.size))
        return ByteClasses(of_byte, tuple(range(self.size)), ranges)

    @cached_property
    def firsts(self) -> list[int]:
        """Return the first character of each class."""
        found: dict[int, int] = {}
        for first, _, char_class in self.segments:
            found.setdefault(char_class, first)
        return [found[char_class] for char_class in range(self.size)]

    @cached_property
    def single_characters(self) -> list[int | None]:
        """Return the character of each class that has no others; None for the other classes."""
        found: dict[int, int | None] = {}
        for first, last, char_class in self.segments:
            found[char_class] = first if first == last and char_class not in found else None
        return [found[char_class] for char_class in range(self.size)]

    @cached_property
    def borders(self) -> npt.NDArray[np.int64]:
        """Return the first character of each segment."""
        return np.array(self._firsts, np.int64)

    @cached_property
    def _class_of_segment(self) -> npt.NDArray[np.int64]:
        return np.array([char_class for _, _, char_class in self.segments], np.int64)

    def classes_at(self, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the classes of characters, none of which is a surrogate."""
        return self._class_of_segment[np.searchsorted(self.borders, codes, "right") - 1]

    def of(self, code: int) -> int:
        """Return the class of a character; -1 for a surrogate."""
        _, last, char_class = self.segments[bisect_right(self._firsts, code) - 1]
        return char_class if code <= last else -1

    def automaton(self, chars: CharSet) -> Utf8Automaton:
        """Return the automaton that reads a set of characters as one symbol each; the set is a union of classes."""
        known = self._automata.get(chars)
        if known is None:
            known = self._automata[chars] = Utf8Automaton((tuple(self._rows(chars)),))
        return known

    def _rows(self, chars: CharSet) -> list[tuple[int, int, int]]:
        rows: list[tuple[int, int, int]] = []
        for char_class in sorted(
            {self.segments[i][2] for first, last in chars.ranges for i in self._within(first, last)}
        ):
            if rows and rows[-1][1] == char_class - 1:
                rows[-1] = (rows[-1][0], char_class, FINAL)
            else:
                rows.append((char_class, char_class, FINAL))
        return rows

    def _within(self, first: int, last: int) -> range:
        """Return the segments that contain characters from the first to the last."""
        begin = max(bisect_right(self._firsts, first) - 1, 0)
        return range(begin + (self.segments[begin][1] < first), bisect_right(self._firsts, last))


def char_classes_of(sets: Iterable[CharSet], escapes: Escapes) -> CharacterClasses | None:
    """Return the coarsest classes that distinguish these sets; None if there are too many of them."""
    borders: dict[int, list[int]] = {}
    for number, chars in enumerate(dict.fromkeys(sets)):
        for first, last in chars.ranges:
            borders.setdefault(first, []).append(1 << number)
            borders.setdefault(last + 1, []).append(1 << number)
    inside, begin = 0, 0
    pieces: list[tuple[int, int, int]] = []
    for border in [*sorted(borders), EVERY_SCALAR.ranges[-1][1] + 1]:
        if border > begin:
            pieces.append((begin, border - 1, inside))
            begin = border
        for one in borders.get(border, ()):
            inside ^= one
    return _numbered(pieces, escapes)


def common_refinement(each: Sequence[CharacterClasses]) -> tuple[CharacterClasses, list[tuple[int, ...]]] | None:
    """Return the coarsest common refinement of some partitions.

    Args:
        each: the partitions, with the same escapes.

    Returns:
        The refinement, and for each of its classes the classes that it is part of; None if there are too many classes.
    """
    (escapes,) = {char_classes.escapes for char_classes in each}
    check_cancelled()
    borders = np.unique(np.concatenate([char_classes.borders for char_classes in each]))
    known: dict[CharacterClasses, npt.NDArray[np.int64]] = {}
    columns = []
    for char_classes in each:
        column = known.get(char_classes)
        if column is None:
            column = known[char_classes] = char_classes.classes_at(borders)
        columns.append(column)
    keys: dict[tuple[int, ...], int] = {}
    numbers = [keys.setdefault(key, len(keys)) for key in zip(*(column.tolist() for column in columns), strict=True)]
    lasts = [*(borders[1:] - 1).tolist(), EVERY_SCALAR.ranges[-1][1]]
    refinement = _numbered(list(zip(borders.tolist(), lasts, numbers, strict=True)), escapes)
    return None if refinement is None else (refinement, list(keys))


def _numbered(pieces: list[tuple[int, int, int]], escapes: Escapes) -> CharacterClasses | None:
    """Number the classes of pieces, which are distinguished by a key each; surrogates are left out."""
    numbers: dict[int, int] = {}
    segments: list[tuple[int, int, int]] = []
    for begin, end, key in pieces:
        for low, high in EVERY_SCALAR.ranges:
            first, last = max(begin, low), min(end, high)
            if first > last:
                continue
            char_class = numbers.setdefault(key, len(numbers))
            if segments and segments[-1][2] == char_class and segments[-1][1] + 1 == first:
                segments[-1] = (segments[-1][0], last, char_class)
            else:
                segments.append((first, last, char_class))
    return _interned(tuple(segments), len(numbers), escapes) if len(numbers) <= MOST_CLASSES else None


def char_classes_from(segments: Segments, escapes: Escapes) -> CharacterClasses:
    """Return the classes of some segments, numbered as there."""
    return _interned(segments, 1 + max(char_class for _, _, char_class in segments), escapes)


@lru_cache(maxsize=1024)
def _interned(segments: Segments, size: int, escapes: Escapes) -> CharacterClasses:
    """Return one object for equal partitions, so that what is computed from them is shared."""
    return CharacterClasses(segments, size, escapes)
