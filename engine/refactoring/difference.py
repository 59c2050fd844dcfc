"""The difference of two texts by lines, with some lines around each change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

_MOST_LINES = 20_000  # of each text; the comparison of more takes too long


class LineChange(StrEnum):
    """The change of a line."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    GAP = "gap"
    """Lines that are the same are left out here."""


@dataclass(frozen=True, slots=True)
class DifferenceLine:
    """A line of a difference; a gap has no text."""

    change: LineChange
    text: str = ""


def line_difference(before: str, after: str, around: int = 2) -> tuple[DifferenceLine, ...]:
    """Return the lines that differ, those removed before those added; empty if both texts are equal.

    Args:
        before: a text.
        after: the other text.
        around: the number of equal lines before and after each change.
    """
    if before == after:
        return ()
    lines = before.split("\n"), after.split("\n")
    if max(map(len, lines)) > _MOST_LINES:
        return (DifferenceLine(LineChange.GAP),)
    return tuple(_differences(*lines, around))


def _differences(one: list[str], other: list[str], around: int) -> Iterator[DifferenceLine]:
    end = 0
    for group in SequenceMatcher(None, one, other, autojunk=False).get_grouped_opcodes(around):
        yield from _gap(one[end : group[0][1]])
        for tag, first, last, other_first, other_last in group:
            if tag == "equal":
                yield from (DifferenceLine(LineChange.SAME, line) for line in one[first:last])
                continue
            yield from (DifferenceLine(LineChange.REMOVED, line) for line in one[first:last])
            yield from (DifferenceLine(LineChange.ADDED, line) for line in other[other_first:other_last])
        end = group[-1][2]
    yield from _gap(one[end:])


def _gap(lines: list[str]) -> Iterator[DifferenceLine]:
    """Yield what stands for lines that are left out: a single one is shown, since a gap takes as much room."""
    if len(lines) == 1:
        yield DifferenceLine(LineChange.SAME, lines[0])
    elif lines:
        yield DifferenceLine(LineChange.GAP)
