"""Where a text stands in another: what find and replace need, without Qt."""

from __future__ import annotations

import re

from engine.source import Span

MOST = 10_000
"""No more are looked for."""


def occurrences(text: str, wanted: str, *, match_case: bool, whole_words: bool) -> tuple[Span, ...]:
    """Where a text stands, without overlaps; at most `MOST` places."""
    if not wanted:
        return ()
    pattern = re.escape(wanted)
    if whole_words:
        pattern = rf"(?<![\w-]){pattern}(?![\w-])"  # a rule's name may hold `-`
    found: list[Span] = []
    for match in re.finditer(pattern, text, 0 if match_case else re.IGNORECASE):
        found.append(Span(*match.span()))
        if len(found) == MOST:
            break
    return tuple(found)
