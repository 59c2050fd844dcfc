"""A table that steps to live configurations only, where liveness needs a search.

Verdicts are kept: a configuration that leads to a live one is live, and if the search
finds none, all that it has visited are dead.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from engine.automata.byte_automaton import DEAD
from engine.automata.dfa.lazy_table import Key, LazyTable
from engine.source import CancelToken, checkpoint, is_work_limited, limited_work


class SearchedTable(LazyTable[Key]):
    """A `LazyTable` that may intern dead ends, but never steps to one."""

    # The verdict on each configuration: live (True), dead (False), or open (None).
    _live: list[bool | None]

    def _intern(self, key: Key) -> int:
        number = super()._intern(key)
        if number == len(self._live):
            self._live.append(self._is_plainly_live(number))
        return number

    def _follow(self, configuration: int, byte_class: int) -> int:
        if is_work_limited():  # as within a mask, which steps often
            return self._live_step(configuration, byte_class)
        with limited_work("errors.limit.step_work", self._limits.work):
            return self._live_step(configuration, byte_class)

    def _live_step(self, configuration: int, byte_class: int) -> int:
        following = self._step(configuration, byte_class)
        return following if self._is_live(following) else DEAD

    @abstractmethod
    def _step(self, configuration: int, byte_class: int) -> int:
        """Return the configuration after a byte of the class, which may be a dead end."""

    def _successors(self, configuration: int) -> Iterable[int]:
        """Return the configurations after one byte, including dead ends; duplicates are allowed."""
        return (self._step(configuration, byte_class) for byte_class in range(self.n_classes))

    @abstractmethod
    def _is_plainly_live(self, configuration: int) -> bool | None:
        """Return the verdict on a configuration if it is obvious; otherwise None."""

    @abstractmethod
    def _priority(self, configuration: int, order: int) -> Any:
        """Return the priority of a configuration in a search, least first; `order` counts those found before."""

    def _is_live(self, configuration: int, cancel: CancelToken | None = None) -> bool:
        verdict = self._live[configuration]
        if verdict is None:
            verdict = self._search(configuration, cancel)
        return verdict

    def _search(self, configuration: int, cancel: CancelToken | None) -> bool:
        """Search best first for a live configuration."""
        reached_from = {configuration: DEAD}
        frontier = [(self._priority(configuration, 0), configuration)]
        while frontier:
            checkpoint(16)
            if cancel is not None:
                cancel.check()
            current = heapq.heappop(frontier)[1]
            for following in self._successors(current):
                verdict = self._live[following]
                if verdict:
                    while current != DEAD:
                        self._live[current] = True
                        current = reached_from[current]
                    return True
                if verdict is None and following not in reached_from:
                    reached_from[following] = current
                    self._limits.check(
                        "errors.limit.searched_configurations", len(reached_from), self._limits.search, "search"
                    )
                    heapq.heappush(frontier, (self._priority(following, len(reached_from)), following))
        for number in reached_from:
            self._live[number] = False
        return False
