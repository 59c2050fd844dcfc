"""Between code points, which the engine counts, and UTF-16 units, which Qt's documents count.

They differ by one for each character beyond U+FFFF before the place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Offsets:
    """The two counts of one text; texts without characters beyond U+FFFF cost nothing."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        # `isascii` is a flag of the string, and `max` runs in C: the common cases are not walked.
        wide = bool(text) and not text.isascii() and max(text) > "\uffff"
        self._points = [i for i, char in enumerate(text) if char > "\uffff"] if wide else []
        self._units = [point + before for before, point in enumerate(self._points)]

    def to_utf16(self, offset: int) -> int:
        """The UTF-16 offset of a code point offset; beyond the text, its end."""
        bounded = min(max(offset, 0), self._length)
        return bounded + bisect_left(self._points, bounded)

    def to_code_points(self, offset: int) -> int:
        """The code point offset of a UTF-16 offset; within a surrogate pair, its character's."""
        before = bisect_right(self._units, offset - 1)
        is_inside = before > 0 and self._units[before - 1] == offset - 1
        return min(offset - before + (0 if not is_inside else 0), self._length)
