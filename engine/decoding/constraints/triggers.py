"""Trigger texts: an Aho–Corasick automaton that finds which text is completed first and how near each one is.

Aho and Corasick (CACM 18(6), 1975) over bytes: a state is the longest suffix of the input that is a prefix of some
text. Matching stops where a text is completed, so if one text contains another, the one that is completed first wins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from engine.automata.completion import Alphabet


class Triggers:
    """The Aho–Corasick automaton of some texts; without texts nothing is ever completed.

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
        failure_links = [0] * len(children)
        waiting = deque(children[0].values())
        while waiting:
            state = waiting.popleft()
            if self.completed[state] is None:
                self.completed[state] = self.completed[failure_links[state]]
            self._rows[state] = list(self._rows[failure_links[state]])
            for byte, child in children[state].items():
                failure_links[child] = self._rows[failure_links[state]][byte]
                self._rows[state][byte] = child
                waiting.append(child)
        self._nearest: dict[tuple[int, Alphabet], dict[int, bytes]] = {}

    def step(self, state: int, byte: int) -> int:
        """Return the state after a byte."""
        return self._rows[state][byte]

    def nearest(self, state: int, alphabet: Alphabet = None) -> dict[int, bytes]:
        """Return, for each text that can be completed next, the fewest bytes that complete it.

        Args:
            state: the current state.
            alphabet: the bytes that may be used; None for all.
        """
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
                target = self._rows[state][byte]
                if target in reached:
                    continue
                reached[target] = reached[state] + bytes((byte,))
                index = self.completed[target]
                if index is None:
                    waiting.append(target)
                else:
                    found.setdefault(index, reached[target])
        return found
