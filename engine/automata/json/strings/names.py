"""Names as a trie, read byte by byte in any of their JSON spellings.

A state is a number, and a step a plain tuple of numbers: there are very many of
them, and what consists of numbers costs no garbage collection anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Final, TypeAlias

from engine.automata.json.strings.spelling import spellings

_ONE_BYTE: Final = frozenset(range(0x20, 0x7F)) - set(b'"\\')
"""The characters that may stand for themselves, in a byte."""


_SHIFT: Final = 32
_NODE: Final = (1 << _SHIFT) - 1
_NOTHING: Final = 0x01

TrieState: TypeAlias = int
"""A node of a trie; and, from bit 32 on, a 1 and the bytes of the character that is being read, if there are any."""

TrieStep: TypeAlias = tuple[int, TrieState, int]
"""A byte that leads on: where to, and which names lie that way, as a bit set."""


def node_of(state: TrieState) -> int:
    """The node before the character that is being read."""
    return state & _NODE


def partial_of(state: TrieState) -> bytes:
    """The bytes of the character that is being read."""
    code = state >> _SHIFT
    return code.to_bytes((code.bit_length() + 7) // 8, "big")[1:] if code else b""


def is_between(state: TrieState) -> bool:
    """Whether a state is between two characters."""
    return state <= _NODE


def within(node: int, partial: bytes) -> TrieState:
    """The state behind some bytes of a character."""
    return node | int.from_bytes((_NOTHING, *partial), "big") << _SHIFT


class Trie:
    """Some strings as a tree of characters.

    Attributes:
        names: the strings.
        numbers: which of them each is.
        edges: of each node the characters that go on and where they lead; the root is node 0.
        below: of each node the strings that lie below it or end there, as a bit set.
        ends: of each node the string that ends there; -1 for none.
    """

    start: Final[TrieState] = 0

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._steps: dict[TrieState, tuple[TrieStep, ...]] = {}
        self._letters: dict[int, tuple[TrieStep, ...] | None] = {}
        self._ways: dict[int, tuple[list[int], dict[int, int], bytes] | None] = {}
        edges: list[dict[int, int]] = [{}]
        below, ends = [(1 << len(self.names)) - 1], [-1]
        for number, name in enumerate(self.names):
            node, bit = 0, 1 << number
            for code in map(ord, name):
                ways = edges[node]
                following = ways.get(code)
                if following is None:
                    node = ways[code] = len(edges)
                    edges.append({})
                    below.append(bit)
                    ends.append(-1)
                else:
                    node = following
                    below[node] |= bit
            ends[node] = number
        self.edges, self.below, self.ends = edges, below, ends

    def steps(self, state: TrieState) -> tuple[TrieStep, ...]:
        """The bytes that lead on from a state."""
        known = self._steps.get(state)
        if known is None:
            found: dict[int, TrieStep] = {}
            node, partial = node_of(state), partial_of(state)
            read = len(partial)
            for code, target in self.edges[node].items():
                for way in spellings(code):
                    if read < len(way) and all(b in place for b, place in zip(partial, way, strict=False)):
                        done = read + 1 == len(way)
                        for byte in way[read]:
                            following = target if done else within(node, partial + bytes((byte,)))
                            below = self.below[target] | (found[byte][2] if byte in found else 0)
                            found[byte] = byte, following, below
            known = self._steps[state] = tuple(found.values())
        return known

    def tail(self, node: int, name: int) -> tuple[list[int], bytes] | None:
        """The nodes behind one on the way to a string, and the bytes that lead to them; None where one is no byte."""
        if name not in self._ways:
            text = self.names[name]
            nodes = list(accumulate(map(ord, text), lambda at, code: self.edges[at][code], initial=0))
            plain = _ONE_BYTE.issuperset(map(ord, text))
            self._ways[name] = (nodes, {at: i for i, at in enumerate(nodes)}, text.encode()) if plain else None
        known = self._ways[name]
        if known is None:
            return None
        nodes, depths, letters = known
        depth = depths[node]
        return nodes[depth + 1 :], letters[depth:]

    def beyond(self, node: int) -> int:
        """The strings that go on behind a node, as a bit set."""
        return self.below[node] & ~(1 << self.ends[node] if self.ends[node] >= 0 else 0)

    def letters(self, node: int) -> tuple[TrieStep, ...] | None:
        """The bytes that lead on between two characters, but for escapes; None where one byte is not a character."""
        if node not in self._letters:
            edges = self.edges[node]
            self._letters[node] = (
                tuple((code, to, self.below[to]) for code, to in edges.items()) if _ONE_BYTE.issuperset(edges) else None
            )
        return self._letters[node]

    def step(self, state: TrieState, byte: int, allowed: int) -> TrieState | None:
        """The state after a byte, if one of the strings in the bit set `allowed` lies that way."""
        for each, following, below in self.steps(state):
            if each == byte:
                return following if below & allowed else None
        return None

    def end(self, state: TrieState, allowed: int) -> int:
        """The string that ends here, by number; -1 for none."""
        number = self.ends[state] if is_between(state) else -1
        return number if number >= 0 and allowed >> number & 1 else -1
