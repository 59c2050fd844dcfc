"""Searches a text for find and replace, without Qt."""

from __future__ import annotations

import re

from engine.source import Span

MOST = 10_000
"""The maximum number of matches."""


def occurrences(text: str, wanted: str, *, match_case: bool, whole_words: bool) -> tuple[Span, ...]:
    """Return the matches of a text, without overlaps; at most `MOST`.

    Args:
        text: the text to search.
        wanted: the text to find.
        match_case: whether case matters.
        whole_words: whether a match must not be a part of a word.
    """
    if not wanted:
        return ()
    pattern = re.escape(wanted)
    if whole_words:
        pattern = rf"(?<![\w-]){pattern}(?![\w-])"  # a rule's name may contain `-`
    found: list[Span] = []
    for match in re.finditer(pattern, text, 0 if match_case else re.IGNORECASE):
        found.append(Span(*match.span()))
        if len(found) == MOST:
            break
    return tuple(found)
