"""Byte classes: bytes that no part of a grammar distinguishes.

A table row has a column for each class: a dozen instead of 256.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from engine.automata.utf8 import Utf8Automaton

ByteRanges: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ByteClasses:
    """A partition of the 256 bytes.

    Attributes:
        of_byte: the class of each byte.
        representatives: one byte of each class.
        ranges: for each class, its inclusive byte ranges, in order.
    """

    of_byte: bytes
    representatives: tuple[int, ...]
    ranges: tuple[ByteRanges, ...]

    @classmethod
    def of(cls, automata: Iterable[Utf8Automaton]) -> ByteClasses:
        """Return the coarsest partition that distinguishes what the automata distinguish."""
        return _partition(frozenset(automata))

    def __len__(self) -> int:
        return len(self.ranges)


@lru_cache(maxsize=64)
def _partition(automata: frozenset[Utf8Automaton]) -> ByteClasses:
    rows = {row for automaton in automata for row in automaton.nodes}
    starts = sorted(
        {0, *(first for row in rows for first, _, _ in row), *(last + 1 for row in rows for _, last, _ in row)}
    )
    if starts[-1] == 256:
        starts.pop()
    index = {start: i for i, start in enumerate([*starts, 256])}
    behaviour: list[list[tuple[int, int]]] = [[] for _ in starts]
    for number, row in enumerate(rows):
        for first, last, target in row:
            for i in range(index[first], index[last + 1]):
                behaviour[i].append((number, target))
    ids: dict[tuple[tuple[int, int], ...], int] = {}
    of_byte = bytearray(256)
    ranges: list[list[tuple[int, int]]] = []
    for i, start in enumerate(starts):
        end = starts[i + 1] if i + 1 < len(starts) else 256
        number = ids.setdefault(tuple(behaviour[i]), len(ids))
        of_byte[start:end] = bytes([number]) * (end - start)
        if number == len(ranges):
            ranges.append([])
        if ranges[number] and ranges[number][-1][1] + 1 == start:
            ranges[number][-1] = (ranges[number][-1][0], end - 1)
        else:
            ranges[number].append((start, end - 1))
    return ByteClasses(bytes(of_byte), tuple(r[0][0] for r in ranges), tuple(tuple(r) for r in ranges))


def join_ranges(groups: Iterable[ByteRanges]) -> ByteRanges:
    """Return the union of disjoint groups of ranges, with neighbours joined."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(pair for group in groups for pair in group):
        if joined and joined[-1][1] + 1 >= first:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)
