"""All the ways in which tokens spell a text, as a graph over its bytes.

An edge is a token that stands in the text; a path from the first byte to the last is
a spelling. There are as many as there are compositions of the length where every piece
is a token, 2^(n-1), so they are counted by dynamic programming and listed only as far
as somebody asks, those of fewest tokens first (best-first search with the exact
number of tokens that are still needed, so no path is begun that is not finished).

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
    from engine.vocabulary import Trie, Vocabulary


@dataclass(frozen=True, slots=True)
class Lattice:
    """The spellings of a text of n bytes.

    Attributes:
        data: the text.
        edges: for each offset below n, the tokens that stand there, as pairs of where they end and their id: shorter
            ones first, and those of the same bytes by their id.
        ways: for each offset up to n, how many ways spell what is behind it.
        fewest: likewise, the fewest tokens that do; 0 where there is no way but at n.
    """

    data: bytes
    edges: tuple[tuple[tuple[int, int], ...], ...]
    ways: tuple[int, ...]
    fewest: tuple[int, ...]

    @classmethod
    def of(cls, data: bytes, vocabulary: Vocabulary) -> Lattice:
        """The spellings of a text by the tokens of a vocabulary."""
        return cls._over(data, tuple(tuple(_standing(data, begin, vocabulary.trie)) for begin in range(len(data))))

    @classmethod
    def _over(cls, data: bytes, edges: tuple[tuple[tuple[int, int], ...], ...]) -> Lattice:
        ways, fewest = [0] * len(data) + [1], [0] * (len(data) + 1)
        for begin in reversed(range(len(data))):
            open_edges = [end for end, _ in edges[begin] if ways[end]]
            ways[begin] = sum(ways[end] for end in open_edges)
            fewest[begin] = 1 + min((fewest[end] for end in open_edges), default=-1)
        return cls(data, edges, tuple(ways), tuple(fewest))

    @property
    def count(self) -> int:
        """How many spellings there are."""
        return self.ways[0]

    def reached(self) -> tuple[int, ...]:
        """The offsets behind 0 that tokens spell the text up to, ascending."""
        found = {0}
        for begin, edges in enumerate(self.edges):
            if begin in found:
                found.update(end for end, _ in edges)
        return tuple(sorted(found - {0}))

    def up_to(self, end: int) -> Lattice:
        """The spellings of the first bytes."""
        edges = tuple(tuple(edge for edge in self.edges[begin] if edge[0] <= end) for begin in range(end))
        return self._over(self.data[:end], edges)

    def paths(self) -> Iterator[Path]:
        """The spellings, those of fewest tokens first; ask for no more than are wanted."""
        if not self.count:
            return
        heap: list[tuple[int, int, Path]] = [(self.fewest[0], 0, ())]
        while heap:
            checkpoint()
            _, behind, path = heappop(heap)
            offset = -behind  # of equals the one that is furthest, so that one is finished before others are begun
            if offset == len(self.data):
                yield path
                continue
            for end, token_id in self.edges[offset]:
                if self.ways[end]:
                    heappush(heap, (len(path) + 1 + self.fewest[end], -end, (*path, token_id)))

    def longest(self) -> Path | None:
        """The longest token at each place after which the rest can be spelled; None where nothing spells the text.

        Of tokens with the same bytes it is the last: in sentencepiece vocabularies the ids of single bytes, which stand
        in for what has no token, come first.
        """
        if not self.count:
            return None
        path, offset = list[int](), 0
        while offset < len(self.data):
            offset, token_id = max(edge for edge in self.edges[offset] if self.ways[edge[0]])
            path.append(token_id)
        return tuple(path)


def _standing(data: bytes, begin: int, trie: Trie) -> Iterator[tuple[int, int]]:
    """The tokens that stand in a text at an offset: where each ends, and its id."""
    byte, skip = trie.byte.data, trie.skip.data
    start, ids = trie.token_start.data, trie.token_ids.data
    node, last = int(trie.top[data[begin]]), len(byte)
    for end in range(begin + 1, len(data) + 1):
        while 0 <= node < last and byte[node] != data[end - 1]:  # siblings follow one another by their skips
            node = skip[node]
        if not 0 <= node < last:
            return
        for token_id in ids[start[node] : start[node + 1]]:
            yield end, token_id
        last = skip[node]
        node += 1  # the first child


def find_prefix(trie: Trie, prefix: bytes) -> int | None:
    """The node of a prefix of some token; None where no token begins with it.

    Args:
        trie: of the vocabulary.
        prefix: one byte or more.
    """
    byte, skip = trie.byte.data, trie.skip.data
    node, last = int(trie.top[prefix[0]]), len(byte)
    for depth, wanted in enumerate(prefix):
        while 0 <= node < last and byte[node] != wanted:
            node = skip[node]
        if not 0 <= node < last:
            return None
        if depth == len(prefix) - 1:
            return node
        last = skip[node]
        node += 1
    return None
