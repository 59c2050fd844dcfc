"""A set of code points, as a small automaton over UTF-8 bytes.

Sequences of equal length are numbers in base 64 after a lead byte, so a set splits digit
by digit; nodes with the same remainder are one node, which makes the result minimal and
small: all letters of Unicode take some 150 nodes.
After The Unicode Standard 16.0, section 3.9, table 3-7.

Rejected: a chain per range, as in Thompson's textbook form. `\\p{L}` has 650
ranges, and a repetition would copy all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from engine.grammar import CharSet
from engine.source import check_cancelled

FINAL = -1
"""The target of a last byte."""

Ranges: TypeAlias = tuple[tuple[int, int], ...]

# (first code point, last code point, lead byte marker, continuation bytes)
_LENGTHS = (
    (0x0, 0x7F, 0x00, 0),
    (0x80, 0x7FF, 0xC0, 1),
    (0x800, 0xFFFF, 0xE0, 2),
    (0x10000, 0x10FFFF, 0xF0, 3),
)


@dataclass(frozen=True, slots=True)
class Utf8Automaton:
    """A deterministic, acyclic automaton; its root is node 0.

    Attributes:
        nodes: for each node its `(first byte, last byte, target)` rows, in byte order; `FINAL` ends a character.
    """

    nodes: tuple[tuple[tuple[int, int, int], ...], ...]

    def step(self, node: int, byte: int) -> int | None:
        """Return the node after a byte, `FINAL` after the last one; None if the byte is not allowed."""
        for first, last, target in self.nodes[node]:
            if first <= byte <= last:
                return target
        return None


ANY_BYTE = Utf8Automaton((((0x00, 0xFF, FINAL),),))
"""One byte of any value: within valid text it means "a character follows"."""


@lru_cache(maxsize=4096)
def utf8_automaton(chars: CharSet) -> Utf8Automaton:
    """Return the automaton of a set of Unicode scalar values."""
    return _Builder().build(chars)


class _Builder:
    def __init__(self) -> None:
        self._nodes: list[tuple[tuple[int, int, int], ...]] = [()]
        self._ids: dict[tuple[int, Ranges], int] = {}

    def build(self, chars: CharSet) -> Utf8Automaton:
        root: list[tuple[int, int, int]] = []
        for first, last, marker, continuations in _LENGTHS:
            clipped = _clip(chars.ranges, first, last)
            for low, high, target in self._edges(continuations, clipped):
                root.append((marker | low, marker | high, target))
        self._nodes[0] = tuple(root)
        return Utf8Automaton(tuple(self._nodes))

    def _edges(self, continuations: int, ranges: Ranges) -> list[tuple[int, int, int]]:
        """Return the rows on the leading digit of numbers that have `continuations` digits after it."""
        if continuations == 0:
            return [(first, last, FINAL) for first, last in ranges]
        shift = 6 * continuations
        full = (1 << shift) - 1
        digits: list[tuple[int, int, list[tuple[int, int]]]] = []

        def add(low: int, high: int, first: int, last: int) -> None:
            if digits and digits[-1][0] == digits[-1][1] == low == high:
                digits[-1][2].append((first, last))
            else:
                digits.append((low, high, [(first, last)]))

        for first, last in ranges:
            low, high = first >> shift, last >> shift
            if low == high:
                add(low, low, first & full, last & full)
                continue
            if first & full:
                add(low, low, first & full, full)
                low += 1
            if last & full != full:
                high -= 1
            if low <= high:
                add(low, high, 0, full)
            if last & full != full:
                add(high + 1, high + 1, 0, last & full)
        rows: list[tuple[int, int, int]] = []
        for low, high, rest in digits:
            target = self._node(continuations - 1, tuple(rest))
            if rows and rows[-1][2] == target and rows[-1][1] + 1 == low:
                rows[-1] = (rows[-1][0], high, target)
            else:
                rows.append((low, high, target))
        return rows

    def _node(self, continuations: int, ranges: Ranges) -> int:
        """Return the node that reads a continuation byte and `continuations` more."""
        check_cancelled()
        key = (continuations, ranges)
        if key not in self._ids:
            rows = tuple((0x80 | low, 0x80 | high, to) for low, high, to in self._edges(continuations, ranges))
            self._ids[key] = len(self._nodes)
            self._nodes.append(rows)
        return self._ids[key]


def _clip(ranges: Ranges, first: int, last: int) -> Ranges:
    return tuple((max(low, first), min(high, last)) for low, high in ranges if low <= last and high >= first)
