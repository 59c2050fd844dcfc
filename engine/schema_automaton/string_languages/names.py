"""Names as a trie that is read byte by byte, in all JSON encodings that the options allow.

A state is a number, and a step a plain tuple of numbers: there are very many of
them, and tuples of numbers cost the garbage collector nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from engine.schema_automaton.json_encoding.encoder import Escapes, spellings
from engine.source import checkpoint

_ONE_BYTE: Final = frozenset(range(0x20, 0x7F)) - set(b'"\\')
"""The characters that may be unescaped, and are a single byte."""


_ESCAPED: Final = {b"\\": b"u", b"\\u": b"0", b"\\u0": b"0"}
"""The byte after each part of the prefix that their escapes share."""

_AT_ONCE: Final = 16  # names that are added in about the time of one checkpoint
_SHIFT: Final = 32
_NODE: Final = (1 << _SHIFT) - 1
_NOTHING: Final = 0x01

TrieState: TypeAlias = int
"""A node of a trie; from bit 32 on, a 1 and the bytes of the character that is being read, if there are any."""

TrieStep: TypeAlias = tuple[int, TrieState, int]
"""A transition: the byte, the next state, and the names that can be reached by it, as a bit set."""


def node_of(state: TrieState) -> int:
    """Return the node before the character that is being read."""
    return state & _NODE


def partial_of(state: TrieState) -> bytes:
    """Return the bytes read of the current character."""
    code = state >> _SHIFT
    return code.to_bytes((code.bit_length() + 7) // 8, "big")[1:] if code else b""


def is_between(state: TrieState) -> bool:
    """Return whether a state is between two characters."""
    return state <= _NODE


def within(node: int, partial: bytes) -> TrieState:
    """Return the state after some bytes of a character."""
    return node | int.from_bytes((_NOTHING, *partial), "big") << _SHIFT


WITHIN_ESCAPES: Final = tuple(within(0, partial) for partial in _ESCAPED)
"""The states within that prefix, to be added to a node."""


class NameTrie:
    """A set of strings as a tree of characters.

    Attributes:
        names: the strings.
        numbers: the number of each string.
        edges: for each node, the characters that may follow, with their targets; the root is node 0.
        below: for each node, the strings below it and the one that ends there, as a bit set.
        ends: for each node, the string that ends there; -1 for none.
        has_needless_escapes: whether characters that may be unescaped may also be escaped.
    """

    start: Final[TrieState] = 0

    def __init__(self, names: Iterable[str], escapes: Escapes) -> None:
        self._escapes = escapes
        self.has_needless_escapes = escapes is not Escapes.SHORTEST
        self.names = tuple(dict.fromkeys(names))
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._steps: dict[TrieState, tuple[TrieStep, ...]] = {}
        self._letters: dict[int, tuple[TrieStep, ...] | None] = {}
        self._own: list[tuple[int, int]] = []  # for each string, the first and last node that were created for it
        edges: list[dict[int, int]] = [{}]
        below, ends = [(1 << len(self.names)) - 1], [-1]
        for number, name in enumerate(self.names):
            node, bit, shared = 0, 1 << number, 0
            codes = list(map(ord, name))
            if not number % _AT_ONCE or len(codes) > _AT_ONCE:
                checkpoint(
                    1 + len(codes) + _AT_ONCE * (number // 1_024)
                )  # the bit set of a name is as long as its number
            for code in codes:
                following = edges[node].get(code)
                if following is None:
                    break
                node = following
                below[node] |= bit
                shared += 1
            own = codes[shared:]
            self._own.append((len(edges), len(edges) + len(own) - 1))
            if own:  # consecutive nodes, each of which leads to the next
                first = len(edges)
                edges[node][own[0]] = first
                edges += [{code: to} for to, code in enumerate(own[1:], first + 1)]
                edges.append({})
                below += [bit] * len(own)
                ends += [-1] * len(own)
                node = len(edges) - 1
            ends[node] = number
        self.edges, self.below, self.ends = edges, below, ends

    def steps(self, state: TrieState) -> tuple[TrieStep, ...]:
        """Return the transitions of a state."""
        known = self._steps.get(state)
        if known is None:
            node, partial = node_of(state), partial_of(state)
            in_any_way = self._escapes is Escapes.ANY and self.character_steps(node)
            escaped = _ESCAPED.get(partial) if in_any_way else None
            known = self.all_steps(node, partial) if escaped is None else self._escape_steps(node, partial, escaped)
            self._steps[state] = known
        return known

    def _escape_steps(self, node: int, partial: bytes, byte: bytes) -> tuple[TrieStep, ...]:
        """Return the steps within `\\u00`, the prefix that the escapes of all single-byte characters may have."""
        step = byte[0], within(node, partial + byte), self.beyond(node)
        slash = self.edges[node].get(0x2F) if partial == b"\\" else None
        return (step,) if slash is None else (step, (0x2F, slash, self.below[slash]))

    def all_steps(self, node: int, partial: bytes) -> tuple[TrieStep, ...]:
        """Return the steps by all encodings of all characters."""
        found: dict[int, TrieStep] = {}
        read = len(partial)
        for code, target in self.edges[node].items():
            for encoding in spellings(code, self._escapes):
                if read < len(encoding) and all(b in allowed for b, allowed in zip(partial, encoding, strict=False)):
                    done = read + 1 == len(encoding)
                    for byte in encoding[read]:
                        following = target if done else within(node, partial + bytes((byte,)))
                        below = self.below[target] | (found[byte][2] if byte in found else 0)
                        found[byte] = byte, following, below
        return tuple(found.values())

    def tail(self, node: int, name: int) -> tuple[range, bytes] | None:
        """Return the nodes after a node on the path to a string, and the bytes that lead to them.

        None if the node is shared with other strings, or if a character is not a single unescaped byte.
        """
        first, last = self._own[name]
        text = self.names[name]
        if not first <= node < last or not (text.isascii() and text.isprintable()) or '"' in text or "\\" in text:
            return None
        return range(node + 1, last + 1), text[len(text) - last + node :].encode()

    def beyond(self, node: int) -> int:
        """Return the strings that continue after a node, as a bit set."""
        return self.below[node] & ~(1 << self.ends[node] if self.ends[node] >= 0 else 0)

    def character_steps(self, node: int) -> tuple[TrieStep, ...] | None:
        """Return the transitions between two characters, without escapes; None if a character has several bytes."""
        if node not in self._letters:
            edges = self.edges[node]
            self._letters[node] = (
                tuple((code, to, self.below[to]) for code, to in edges.items()) if _ONE_BYTE.issuperset(edges) else None
            )
        return self._letters[node]

    def step(self, state: TrieState, byte: int, allowed: int) -> TrieState | None:
        """Return the state after a byte, if one of the strings in the bit set `allowed` can be reached by it.

        Args:
            state: the state before the byte.
            byte: the byte.
            allowed: the strings, as a bit set.
        """
        for each, following, below in self.steps(state):
            if each == byte:
                return following if below & allowed else None
        return None

    def end(self, state: TrieState, allowed: int) -> int:
        """Return the number of the string that ends here, if it is in `allowed`; otherwise -1."""
        number = self.ends[state] if is_between(state) else -1
        return number if number >= 0 and allowed >> number & 1 else -1
