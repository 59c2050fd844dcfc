"""Where the tokens of a vocabulary lead from a place, each place once.

A walk of the byte trie, as for a mask, that keeps the places at which tokens end
instead of the tokens: a wide state has a hundred thousand tokens and leads to a
dozen places. Places are those of `ByteAutomaton.enter`, so nothing is interned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.completion import Alphabet
from engine.masking.token_sets import TokenSets
from engine.vocabulary import Trie, Vocabulary


class TokenSuccessors:
    """The steps of one grammar over one vocabulary.

    Attributes:
        longest: the bytes of the longest token.
        walked: nodes of the trie that were looked at so far; a token taken whole counts as one.
        alphabet: the bytes that tokens have; None for all of them.
        by_bytes: whether each of these bytes is a token by itself, and no tokens are taken whole.
    """

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary) -> None:
        self._automaton = automaton
        self._tokens = vocabulary.tokens
        self._trie = vocabulary.trie
        self._heights = _heights(vocabulary.trie)
        self._sets = TokenSets(vocabulary, automaton.token_elements) if automaton.token_elements else None
        self.longest = max(1, vocabulary.trie.height)
        self.walked = 0
        used = frozenset(np.unique(vocabulary.trie.byte).tolist())
        single = {token[0] for token in vocabulary.tokens if token is not None and len(token) == 1}
        self.alphabet: Alphabet = used if len(used) < 256 else None
        self.by_bytes = self._sets is None and used <= single

    def following(self, place: Any, is_useful: Callable[[Any, int], bool] | None = None) -> dict[Any, int]:
        """The places that a token leads to, each with the id of one that does.

        Args:
            place: where to begin, as `ByteAutomaton.enter` gives it.
            is_useful: whether tokens are of interest that go on from a place by at most so many bytes.
        """
        found: dict[Any, int] = {}
        whole: set[int] = set()
        if self._sets is not None:
            whole = self._sets.ids(self._automaton.token_sets(place))
            self._take_whole(place, whole, found)
        start, ids = self._trie.token_start.data, self._trie.token_ids.data
        for node, after in self._walk(place, is_useful):
            if after not in found:
                token_id = next((one for one in ids[start[node] : start[node + 1]] if one not in whole), None)
                if token_id is not None:
                    found[after] = token_id
        return found

    def fewest(self, text: bytes) -> tuple[int, ...] | None:
        """The fewest tokens that spell a text; None where none do."""
        ways: list[tuple[int, int, int] | None] = [(0, 0, 0)]  # tokens, where the last begins, its id
        ways += [None] * len(text)
        for begin in range(len(text)):
            way = ways[begin]
            if way is None:
                continue
            for end, token_id in self._spellings(text, begin):
                known = ways[end]
                if known is None or way[0] + 1 < known[0]:
                    ways[end] = way[0] + 1, begin, token_id
        ids: list[int] = []
        at = len(text)
        while at > 0:
            last = ways[at]
            if last is None:
                return None
            _, at, token_id = last
            ids.append(token_id)
        return tuple(reversed(ids))

    def beginnings(self, text: bytes) -> Iterator[tuple[int, int]]:
        """The tokens that a text begins with: where each ends, and its id."""
        return self._spellings(text, 0)

    def _spellings(self, text: bytes, begin: int) -> Iterator[tuple[int, int]]:
        """The tokens that stand in a text from a place on: where each ends, and its id."""
        byte, skip, start = self._trie.byte.data, self._trie.skip.data, self._trie.token_start.data
        node, last = int(self._trie.top[text[begin]]), len(byte)
        for end in range(begin + 1, len(text) + 1):
            # Siblings follow one another by their skips; the first child is the next node.
            while 0 <= node < last and byte[node] != text[end - 1]:
                node = skip[node]
            if not 0 <= node < last:
                return
            if start[node] < start[node + 1]:
                yield end, int(self._trie.token_ids[start[node]])
            last = skip[node]
            node += 1

    def _walk(self, place: Any, is_useful: Callable[[Any, int], bool] | None) -> Iterator[tuple[int, Any]]:
        trie, follow = self._trie, self._automaton.advance
        byte, depth, skip = trie.byte.data, trie.depth.data, trie.skip.data
        heights = self._heights.data
        path = [place] * (trie.height + 1)
        node = 0
        while node < len(byte):
            self.walked += 1
            level = depth[node]
            after = follow(path[level - 1], byte[node])
            if after is None or (is_useful is not None and not is_useful(after, heights[node])):
                node = skip[node]
                continue
            path[level] = after
            yield node, after
            node += 1

    def _take_whole(self, configuration: int, ids: set[int], found: dict[Any, int]) -> None:
        """Add what tokens lead to that the grammar names, which may be spelled as well."""
        assert self._sets is not None
        for token_id in ids:
            self.walked += 1
            data = self._tokens[token_id] or b""
            after = self._automaton.take_token(configuration, data, self._sets.holding(token_id))
            if after != DEAD:
                found.setdefault(after, token_id)


_known_heights: WeakKeyDictionary[Trie, npt.NDArray[np.int32]] = WeakKeyDictionary()


def _heights(trie: Trie) -> npt.NDArray[np.int32]:
    """int32[N]: by how many bytes the longest token below a node goes on."""
    heights = _known_heights.get(trie)
    if heights is None:
        deepest = trie.depth.copy()
        order = np.argsort(trie.depth, kind="stable")
        levels = np.split(order, np.cumsum(np.bincount(trie.depth, minlength=1))[:-1])
        for parents, children in zip(reversed(levels[:-1]), reversed(levels[1:]), strict=True):
            if len(parents):  # the root is no node
                np.maximum.at(deepest, parents[np.searchsorted(parents, children) - 1], deepest[children])
        heights = _known_heights[trie] = deepest - trie.depth
    return heights
