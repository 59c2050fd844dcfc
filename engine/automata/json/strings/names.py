"""Names as a trie, read byte by byte in any of their JSON spellings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.automata.json.strings.spelling import spellings


class TrieState(NamedTuple):
    """A node of a trie, and the bytes of the character that is being read."""

    node: int
    partial: bytes


class TrieStep(NamedTuple):
    """A byte that leads on: where to, and which names lie that way, as a bit set."""

    byte: int
    state: TrieState
    below: int


class Trie:
    """Some strings as a tree of characters.

    Attributes:
        names: the strings.
        numbers: which of them each is.
        edges: of each node the characters that go on and where they lead; the root is node 0.
        below: of each node the strings that lie below it or end there, as a bit set.
        ends: of each node the string that ends there; -1 for none.
    """

    start = TrieState(0, b"")

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.edges: list[dict[int, int]] = [{}]
        self.below = [(1 << len(self.names)) - 1]
        self.ends = [-1]
        self._steps: dict[TrieState, tuple[TrieStep, ...]] = {}
        for number, name in enumerate(self.names):
            node = 0
            for character in name:
                following = self.edges[node].get(ord(character))
                if following is None:
                    following = self.edges[node][ord(character)] = len(self.edges)
                    self.edges.append({})
                    self.below.append(0)
                    self.ends.append(-1)
                node = following
                self.below[node] |= 1 << number
            self.ends[node] = number

    def steps(self, state: TrieState) -> tuple[TrieStep, ...]:
        """The bytes that lead on from a state."""
        known = self._steps.get(state)
        if known is None:
            found: dict[int, TrieStep] = {}
            read = len(state.partial)
            for code, target in self.edges[state.node].items():
                for way in spellings(code):
                    if read < len(way) and all(b in place for b, place in zip(state.partial, way, strict=False)):
                        done = read + 1 == len(way)
                        for byte in way[read]:
                            partial = state.partial + bytes((byte,))
                            following = TrieState(target, b"") if done else TrieState(state.node, partial)
                            below = self.below[target] | (found[byte].below if byte in found else 0)
                            found[byte] = TrieStep(byte, following, below)
            known = self._steps[state] = tuple(found.values())
        return known

    def step(self, state: TrieState, byte: int, allowed: int) -> TrieState | None:
        """The state after a byte, if one of the strings in the bit set `allowed` lies that way."""
        for step in self.steps(state):
            if step.byte == byte:
                return step.state if step.below & allowed else None
        return None

    def end(self, state: TrieState, allowed: int) -> int:
        """The string that ends here, by number; -1 for none."""
        number = -1 if state.partial else self.ends[state.node]
        return number if number >= 0 and allowed >> number & 1 else -1
