"""Texts that are waited for: which of them is completed first, and how near each is.

The automaton of Aho and Corasick (CACM 18(6), 1975) over bytes: a state is the
longest end of what was read that some text begins with. Where a text is completed
nothing is read further, so of two texts of which one holds the other, the one that
is complete first counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from engine.automata.completion import Alphabet


class Triggers:
    """The automaton of some texts; without any, nothing is ever completed.

    Attributes:
        completed: by state, the index of the text that is completed there; None elsewhere.
    """

    def __init__(self, texts: Sequence[bytes]) -> None:
        children: list[dict[int, int]] = [{}]
        self.completed: list[int | None] = [None]
        for index, text in enumerate(texts):
            state = 0
            for byte in text:
                if byte not in children[state]:
                    children[state][byte] = len(children)
                    children.append({})
                    self.completed.append(None)
                state = children[state][byte]
            if text and self.completed[state] is None:
                self.completed[state] = index
        self._rows = [[0] * 256 for _ in children]
        self._rows[0] = [children[0].get(byte, 0) for byte in range(256)]
        shorter = [0] * len(children)
        waiting = deque(children[0].values())
        while waiting:
            state = waiting.popleft()
            if self.completed[state] is None:
                self.completed[state] = self.completed[shorter[state]]
            self._rows[state] = list(self._rows[shorter[state]])
            for byte, child in children[state].items():
                shorter[child] = self._rows[shorter[state]][byte]
                self._rows[state][byte] = child
                waiting.append(child)
        self._nearest: dict[tuple[int, Alphabet], dict[int, bytes]] = {}

    def step(self, state: int, byte: int) -> int:
        """The state after a byte."""
        return self._rows[state][byte]

    def nearest(self, state: int, alphabet: Alphabet = None) -> dict[int, bytes]:
        """By text that can be the next one completed, the fewest bytes that complete it."""
        known = self._nearest.get((state, alphabet))
        if known is None:
            known = self._nearest[state, alphabet] = self._search(state, alphabet)
        return known

    def _search(self, start: int, alphabet: Alphabet) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        reached = {start: b""}
        waiting = deque([start])
        while waiting:
            state = waiting.popleft()
            for byte in range(256) if alphabet is None else sorted(alphabet):
                after = self._rows[state][byte]
                if after in reached:
                    continue
                reached[after] = reached[state] + bytes((byte,))
                index = self.completed[after]
                if index is None:
                    waiting.append(after)
                else:
                    found.setdefault(index, reached[after])
        return found
