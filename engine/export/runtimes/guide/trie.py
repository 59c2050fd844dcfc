"""A vocabulary as one byte trie, laid out depth first in plain lists.

Tokens that share a prefix share the work of stepping through it. In depth-first
order a subtree is a range of nodes, so a walk that dies at a node goes on at
`skip[node]`, and nothing calls itself.
"""

from __future__ import annotations

from collections.abc import Sequence


class Trie:
    """The tokens that have bytes.

    Attributes:
        byte: of each node, the byte on the edge into it.
        depth: of each node, the length of its prefix, from 1.
        skip: of each node, the first node behind its subtree.
        ids: of each node, the ids of the tokens that end there; several where they share bytes.
        height: the length of the longest token.
    """

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        self.byte: list[int] = []
        self.depth: list[int] = []
        self.skip: list[int] = []
        self.ids: list[tuple[int, ...]] = []
        path: list[int] = []  # the nodes that lead to the last token
        before = b""
        for token, number in sorted((token, number) for number, token in enumerate(tokens) if token):
            if token == before:
                self.ids[path[-1]] += (number,)
                continue
            shared = _shared(before, token)
            self._close(path, shared)
            for at in range(shared, len(token)):
                path.append(len(self.byte))
                self.byte.append(token[at])
                self.depth.append(at + 1)
                self.skip.append(0)
                self.ids.append(())
            self.ids[path[-1]] = (number,)
            before = token
        self._close(path, 0)
        self.height = max(self.depth, default=0)

    def _close(self, path: list[int], length: int) -> None:
        """What is longer than `length` has no more nodes."""
        while len(path) > length:
            self.skip[path.pop()] = len(self.byte)


def _shared(one: bytes, other: bytes) -> int:
    """How many leading bytes are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
