"""The states to which the tokens of a vocabulary lead from a state, each state once.

A walk of the byte trie, as for a mask, that collects the states at which tokens end
instead of the tokens: a permissive state allows a hundred thousand tokens, which lead
to a dozen states. States are cursors of `ByteAutomaton.cursor`, so nothing is interned.
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
    """The successor states of one grammar over one vocabulary.

    Attributes:
        longest: the length of the longest token, in bytes.
        n_visited: the number of nodes of the trie that were visited so far; a token element counts as one.
        alphabet: the bytes that occur in tokens; None for all bytes.
        by_bytes: whether each of these bytes is a token by itself, and the grammar has no token elements.
    """

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary) -> None:
        self._automaton = automaton
        self._tokens = vocabulary.tokens
        self._trie = vocabulary.trie
        self._heights = heights_of(vocabulary.trie)
        self._sets = TokenSets(vocabulary, automaton.token_elements) if automaton.token_elements else None
        self.longest = max(1, vocabulary.trie.height)
        self.n_visited = 0
        used = frozenset(np.unique(vocabulary.trie.byte).tolist())
        single = {token[0] for token in vocabulary.tokens if token is not None and len(token) == 1}
        self.alphabet: Alphabet = used if len(used) < 256 else None
        self.by_bytes = self._sets is None and used <= single

    def successors(self, cursor: Any, is_useful: Callable[[Any, int], bool] | None = None) -> dict[Any, int]:
        """Return the states to which tokens lead, each with the id of one such token.

        Args:
            cursor: the state to begin at, a cursor of `ByteAutomaton.cursor`.
            is_useful: whether to follow tokens that continue from a cursor by at most that many bytes; None for always.
        """
        found: dict[Any, int] = {}
        element_ids: set[int] = set()
        if self._sets is not None:
            element_ids = self._sets.ids(self._automaton.token_sets(cursor))
            self._add_token_elements(cursor, element_ids, found)
        start, ids = self._trie.token_start.data, self._trie.token_ids.data
        for node, after in self._walk(cursor, is_useful):
            if after not in found:
                token_id = next(
                    (candidate for candidate in ids[start[node] : start[node + 1]] if candidate not in element_ids),
                    None,
                )
                if token_id is not None:
                    found[after] = token_id
        return found

    def fewest_tokens(self, text: bytes) -> tuple[int, ...] | None:
        """Return the fewest tokens whose bytes are a text; None if there are none."""
        best: list[tuple[int, int, int] | None] = [(0, 0, 0)]  # number of tokens, start of the last one, its id
        best += [None] * len(text)
        for begin in range(len(text)):
            so_far = best[begin]
            if so_far is None:
                continue
            for end, same in self._trie.tokens_at(text, begin):
                known = best[end]
                if known is None or so_far[0] + 1 < known[0]:
                    best[end] = so_far[0] + 1, begin, same[0]
        ids: list[int] = []
        at = len(text)
        while at > 0:
            last = best[at]
            if last is None:
                return None
            _, at, token_id = last
            ids.append(token_id)
        return tuple(reversed(ids))

    def prefixes(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield the tokens that a text begins with: the length of each, and its id."""
        return ((end, ids[0]) for end, ids in self._trie.tokens_at(text))

    def _walk(self, cursor: Any, is_useful: Callable[[Any, int], bool] | None) -> Iterator[tuple[int, Any]]:
        advance, byte, heights = self._automaton.advance, self._trie.byte.data, self._heights.data

        def step(before: Any, node: int) -> Any:
            self.n_visited += 1
            after = advance(before, byte[node])
            return None if after is None or (is_useful is not None and not is_useful(after, heights[node])) else after

        return self._trie.walk(cursor, step)

    def _add_token_elements(self, configuration: int, ids: set[int], found: dict[Any, int]) -> None:
        """Add the states to which token elements lead; the bytes of these tokens may be allowed as well."""
        assert self._sets is not None
        for token_id in ids:
            self.n_visited += 1
            data = self._tokens[token_id] or b""
            after = self._automaton.take_token(configuration, data, self._sets.holding(token_id))
            if after != DEAD:
                found.setdefault(after, token_id)


_known_heights: WeakKeyDictionary[Trie, npt.NDArray[np.int32]] = WeakKeyDictionary()


def heights_of(trie: Trie) -> npt.NDArray[np.int32]:
    """Return int32[N]: the number of bytes by which the longest token below a node exceeds its prefix."""
    heights = _known_heights.get(trie)
    if heights is None:
        deepest = trie.depth.copy()
        order = np.argsort(trie.depth, kind="stable")
        levels = np.split(order, np.cumsum(np.bincount(trie.depth, minlength=1))[:-1])
        for parents, children in zip(reversed(levels[:-1]), reversed(levels[1:]), strict=True):
            if len(parents):  # the root is not a node
                np.maximum.at(deepest, parents[np.searchsorted(parents, children) - 1], deepest[children])
        heights = _known_heights[trie] = deepest - trie.depth
    return heights
