"""A table whose rows lead to live configurations only, where a search must tell which those are.

What is found out about a configuration is kept: what leads to a live one is
live, and where the search finds none, all that it has seen is dead.
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
    """A `LazyTable` that may intern dead ends, and never steps to one."""

    # What is found out about each configuration: live (True), dead (False), or open (None).
    _live: list[bool | None]

    def _intern(self, key: Key) -> int:
        number = super()._intern(key)
        if number == len(self._live):
            self._live.append(self._is_plainly_live(number))
        return number

    def _follow(self, configuration: int, byte_class: int) -> int:
        if is_work_limited():  # as in a mask, which asks often
            return self._live_step(configuration, byte_class)
        with limited_work("work of one step", self._limits.work):
            return self._live_step(configuration, byte_class)

    def _live_step(self, configuration: int, byte_class: int) -> int:
        following = self._step(configuration, byte_class)
        return following if self._is_live(following) else DEAD

    @abstractmethod
    def _step(self, configuration: int, byte_class: int) -> int:
        """The configuration after a byte of the class, dead ends included."""

    def _ways(self, configuration: int) -> Iterable[int]:
        """The configurations after a byte, dead ends included; what several classes lead to is met once or more."""
        return (self._step(configuration, byte_class) for byte_class in range(self.n_classes))

    @abstractmethod
    def _is_plainly_live(self, configuration: int) -> bool | None:
        """What can be told about a configuration at a glance."""

    @abstractmethod
    def _urgency(self, configuration: int, order: int) -> Any:
        """What a search looks at first is least; `order` is how many configurations were found before."""

    def _is_live(self, configuration: int, cancel: CancelToken | None = None) -> bool:
        verdict = self._live[configuration]
        if verdict is None:
            verdict = self._search(configuration, cancel)
        return verdict

    def _search(self, configuration: int, cancel: CancelToken | None) -> bool:
        """Best first for a live configuration."""
        reached_from = {configuration: DEAD}
        frontier = [(self._urgency(configuration, 0), configuration)]
        while frontier:
            checkpoint(16)
            if cancel is not None:
                cancel.check()
            current = heapq.heappop(frontier)[1]
            for following in self._ways(current):
                verdict = self._live[following]
                if verdict:
                    while current != DEAD:
                        self._live[current] = True
                        current = reached_from[current]
                    return True
                if verdict is None and following not in reached_from:
                    reached_from[following] = current
                    self._limits.check(
                        "configurations searched for a match", len(reached_from), self._limits.search, "search"
                    )
                    heapq.heappush(frontier, (self._urgency(following, len(reached_from)), following))
        for number in reached_from:
            self._live[number] = False
        return False
