"""Minimisation of a list: the `ddmin` algorithm of Zeller and Hildebrandt (2002)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def minimise(items: Sequence[_T], fails: Callable[[list[_T]], bool]) -> list[_T]:
    """Return a part of a list that still fails, and no longer does without any one of its items.

    The order is kept. The whole list is assumed to fail; the empty list is tried first.

    Args:
        items: the list.
        fails: whether a part of the list fails.
    """
    kept = list(items)
    if not kept or fails([]):
        return []
    size = (len(kept) + 1) // 2
    while size:
        start = 0
        has_shrunk = False
        while start < len(kept):
            rest = kept[:start] + kept[start + size :]
            if rest and fails(rest):
                kept, has_shrunk = rest, True
            else:
                start += size
        if size == 1 and has_shrunk:
            continue  # an item may have become superfluous
        size //= 2
    return kept
