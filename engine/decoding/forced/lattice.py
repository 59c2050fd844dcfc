"""All encodings of a text by the tokens of a vocabulary, as a graph over its bytes.

An edge is a token that matches at an offset of the text; a path from the first byte to the last is an encoding. There
are up to 2^(n-1) (all compositions of the length), so they are counted by dynamic programming and listed only on
demand, fewest tokens first: best-first search with the exact number of tokens still needed, so every path that is
started is completed.

    >>> from engine import Vocabulary
    >>> pieces = ["n", "a", "m", "e", "na", "am", "me", "nam", "ame", "name"]
    >>> Lattice.of(b"name", Vocabulary([piece.encode() for piece in pieces], [])).count
    8
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from engine.decoding.forced.values import Path
from engine.source import checkpoint

if TYPE_CHECKING:
    from engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Lattice:
    """The encodings of a text of n bytes.

    Attributes:
        data: the text.
        edges: for each offset below n, the tokens that match there, as pairs of end offset and id: shorter ones first,
            then by id.
        ways: for each offset up to n, the number of encodings of the rest of the text.
        fewest: for each offset, the fewest tokens that encode the rest; 0 if none do, and at n.
    """

    data: bytes
    edges: tuple[tuple[tuple[int, int], ...], ...]
    ways: tuple[int, ...]
    fewest: tuple[int, ...]

    @classmethod
    def of(cls, data: bytes, vocabulary: Vocabulary) -> Lattice:
        """Build the lattice of a text."""
        trie = vocabulary.trie
        edges = (((end, i) for end, ids in trie.tokens_at(data, begin) for i in ids) for begin in range(len(data)))
        return cls._from_edges(data, tuple(map(tuple, edges)))

    @classmethod
    def _from_edges(cls, data: bytes, edges: tuple[tuple[tuple[int, int], ...], ...]) -> Lattice:
        ways, fewest = [0] * len(data) + [1], [0] * (len(data) + 1)
        for begin in reversed(range(len(data))):
            open_edges = [end for end, _ in edges[begin] if ways[end]]
            ways[begin] = sum(ways[end] for end in open_edges)
            fewest[begin] = 1 + min((fewest[end] for end in open_edges), default=-1)
        return cls(data, edges, tuple(ways), tuple(fewest))

    @property
    def count(self) -> int:
        """The number of encodings."""
        return self.ways[0]

    def reached(self) -> tuple[int, ...]:
        """Return the offsets above 0 that tokens reach from the start, ascending."""
        found = {0}
        for begin, edges in enumerate(self.edges):
            if begin in found:
                found.update(end for end, _ in edges)
        return tuple(sorted(found - {0}))

    def up_to(self, end: int) -> Lattice:
        """Return the lattice of the first `end` bytes."""
        edges = tuple(tuple(edge for edge in self.edges[begin] if edge[0] <= end) for begin in range(end))
        return self._from_edges(self.data[:end], edges)

    def paths(self) -> Iterator[Path]:
        """Yield the encodings, fewest tokens first; there may be exponentially many."""
        if not self.count:
            return
        heap: list[tuple[int, int, Path]] = [(self.fewest[0], 0, ())]
        while heap:
            checkpoint()
            _, behind, path = heappop(heap)
            offset = -behind  # among equals, extend the longest first, so that it is finished before others are started
            if offset == len(self.data):
                yield path
                continue
            for end, token_id in self.edges[offset]:
                if self.ways[end]:
                    heappush(heap, (len(path) + 1 + self.fewest[end], -end, (*path, token_id)))

    def longest(self) -> Path | None:
        """Return the encoding with the longest token at each offset from which the rest can be encoded, or None.

        Among tokens with the same bytes it takes the last: in sentencepiece vocabularies the ids of single bytes, which
        represent text without a token, come first.
        """
        if not self.count:
            return None
        path, offset = list[int](), 0
        while offset < len(self.data):
            offset, token_id = max(edge for edge in self.edges[offset] if self.ways[edge[0]])
            path.append(token_id)
        return tuple(path)
