"""Layout of chips in lines, without widgets: sizes in, positions out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChipFlow:
    """Chips in lines.

    Attributes:
        left: the left edge of each chip.
        width: the width of each chip, at most that of a line.
        line: the line of each chip, in ascending order.
        line_starts: the index of the first chip of each line.
    """

    left: tuple[float, ...]
    width: tuple[float, ...]
    line: tuple[int, ...]
    line_starts: tuple[int, ...]

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return len(self.line_starts)

    def in_lines(self, first: int, last: int) -> range:
        """Return the indices of the chips on lines `first` to `last`, both included."""
        if not self.line_starts or last < 0 or first >= self.lines:
            return range(0)
        begin = self.line_starts[max(first, 0)]
        end = self.line_starts[last + 1] if last + 1 < self.lines else len(self.left)
        return range(begin, end)

    def at(self, x: float, line: int) -> int | None:
        """Return the index of the chip at a position; None if there is none."""
        chips = self.in_lines(line, line) if line >= 0 else range(0)
        if not chips:
            return None
        index = bisect_right(self.left, x, chips.start, chips.stop) - 1
        return index if index >= chips.start and x <= self.left[index] + self.width[index] else None


def flow(widths: Sequence[float], breaks: Sequence[bool], room: float, gap: float) -> ChipFlow:
    """Lay out chips in lines; a line also ends after a chip that breaks.

    Args:
        widths: the width of each chip.
        breaks: whether a new line begins after each chip.
        room: the width of a line.
        gap: the space between two chips.
    """
    left: list[float] = []
    fitted: list[float] = []
    line: list[int] = []
    starts: list[int] = []
    x, is_line_start = 0.0, True
    for index, (wanted, ends_line) in enumerate(zip(widths, breaks, strict=True)):
        width = min(wanted, room)
        if is_line_start or x + width > room:
            starts.append(index)
            x = 0.0
        left.append(x)
        fitted.append(width)
        line.append(len(starts) - 1)
        x += width + gap
        is_line_start = ends_line
    return ChipFlow(tuple(left), tuple(fitted), tuple(line), tuple(starts))
