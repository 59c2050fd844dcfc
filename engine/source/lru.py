"""A cache of the most recently used values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_MISSING: Any = object()


class LruCache(Generic[K, V]):
    """A mapping that drops the least recently used entry when it is full.

    Attributes:
        capacity: the number of entries that are kept; at least one.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = max(1, capacity)
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; make it if it is missing. If `make` raises, nothing is kept."""
        entries = self._entries
        value: V = entries.get(key, _MISSING)
        if value is _MISSING:
            value = entries[key] = make()
            if len(entries) > self.capacity:
                entries.popitem(last=False)
        else:
            entries.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        """Replace the value of a key, or add it."""
        self.discard(key)
        self.get(key, lambda: value)

    def peek(self, key: K) -> V | None:
        """Return the value of a key, or None; this does not count as use."""
        return self._entries.get(key)

    def discard(self, key: K) -> None:
        """Drop the value of a key, if there is one."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Drop all entries."""
        self._entries.clear()
