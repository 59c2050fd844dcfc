"""Sets of Unicode code points, as sorted ranges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from engine.source import InvariantError, checkpoint

LAST_CODE_POINT = 0x10FFFF
_SURROGATES = 0xD800, 0xDFFF


@dataclass(frozen=True, slots=True)
class CharSet:
    """An immutable set of code points.

    Attributes:
        ranges: inclusive `(first, last)` pairs, sorted, disjoint, not adjacent.
    """

    ranges: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        previous = -2
        for first, last in self.ranges:
            if not previous + 1 < first <= last <= LAST_CODE_POINT:
                raise InvariantError("errors.invariant.ranges", first=f"{first:#x}")
            previous = last

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> CharSet:
        """Build the union of inclusive ranges in any order."""
        merged: list[tuple[int, int]] = []
        for first, last in sorted(set(pairs)):
            checkpoint()
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        return cls(tuple(merged))

    @classmethod
    def chars(cls, text: str) -> CharSet:
        """Build the set of the characters of a string."""
        return cls.of((ord(char), ord(char)) for char in text)

    def __or__(self, other: CharSet) -> CharSet:
        return CharSet.of((*self.ranges, *other.ranges))

    def __invert__(self) -> CharSet:
        gaps, following = [], 0
        for first, last in self.ranges:
            if following < first:
                gaps.append((following, first - 1))
            following = last + 1
        if following <= LAST_CODE_POINT:
            gaps.append((following, LAST_CODE_POINT))
        return CharSet(tuple(gaps))

    def __and__(self, other: CharSet) -> CharSet:
        common: list[tuple[int, int]] = []
        left, right = self.ranges, other.ranges
        i = j = 0
        while i < len(left) and j < len(right):
            first, last = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
            if first <= last:
                common.append((first, last))
            if left[i][1] < right[j][1]:
                i += 1
            else:
                j += 1
        return CharSet(tuple(common))

    def scalars(self) -> CharSet:
        """Return the set without surrogates, which UTF-8 cannot encode; the same object if it has none."""
        first, last = _SURROGATES
        at = bisect_left(self.ranges, (first, first))
        if at and self.ranges[at - 1][1] >= first:
            at -= 1
        if at == len(self.ranges) or self.ranges[at][0] > last:
            return self
        return _without_surrogates(self)

    def __sub__(self, other: CharSet) -> CharSet:
        return self & ~other

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, code_point: int) -> bool:
        return any(first <= code_point <= last for first, last in self.ranges)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def __iter__(self) -> Iterator[int]:
        for first, last in self.ranges:
            yield from range(first, last + 1)


ANY = CharSet(((0, LAST_CODE_POINT),))
"""All code points, surrogates included."""

EVERY_SCALAR = CharSet(((0, 0xD7FF), (0xE000, LAST_CODE_POINT)))
"""All code points that UTF-8 can encode: all but surrogates."""


@lru_cache(maxsize=512)
def _without_surrogates(characters: CharSet) -> CharSet:
    return characters & EVERY_SCALAR
