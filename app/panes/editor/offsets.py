"""Conversion between code points, which the engine counts, and UTF-16 units, which Qt's documents count.

They differ by one for each preceding character beyond U+FFFF.
"""

from __future__ import annotations

from bisect import bisect_left


class Offsets:
    """The offsets of one text; a text without characters beyond U+FFFF costs almost nothing."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        # `isascii` is a flag of the string and `max` runs in C, so common texts are not iterated in Python.
        is_wide = not text.isascii() and max(text) > "\uffff"
        self._points = [point for point, char in enumerate(text) if char > "\uffff"] if is_wide else []
        self._units = [point + before for before, point in enumerate(self._points)]

    def to_utf16(self, offset: int) -> int:
        """Return the UTF-16 offset of a code point offset, at most the end of the text."""
        bounded = min(max(offset, 0), self._length)
        return bounded + bisect_left(self._points, bounded)

    def to_code_points(self, offset: int) -> int:
        """Return the code point offset of a UTF-16 offset; between two surrogates, that of their character."""
        return min(offset - bisect_left(self._units, offset), self._length)
