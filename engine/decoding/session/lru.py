"""A least-recently-used cache of computed values, so that going back does not query the model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """A mapping that drops the least recently used entry."""

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; make it if it is missing."""
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key]
        value = make()
        self._entries[key] = value
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
        return value

    def peek(self, key: K) -> V | None:
        """Return the value of a key, or None; this does not count as use."""
        return self._entries.get(key)

    def discard(self, key: K) -> None:
        """Drop the value of a key, if there is one."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Drop all entries."""
        self._entries.clear()
