"""What a grammar's token elements mean in a vocabulary: ids.

A name is a special token's name, or the spelling of a token that has bytes.
EOS ids are in no set: an end is the grammar's to allow, not an element's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from engine.grammar import TokenSet
from engine.vocabulary import Vocabulary
from engine.vocabulary.errors import VocabularyError


class TokenSets:
    """Looks token elements up in one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._eos_ids = vocabulary.eos_ids
        self._size = vocabulary.size
        self._ids: dict[TokenSet, frozenset[int]] = {}
        self._named: dict[str, set[int]] = {}
        for token_id, name in vocabulary.special.items():
            self._named.setdefault(name, set()).add(token_id)
        for token_id, token in enumerate(vocabulary.tokens):
            if token is not None:
                self._named.setdefault(token.decode("utf-8", "replace"), set()).add(token_id)

    def ids(self, tokens: TokenSet) -> frozenset[int]:
        """The ids of a set.

        Raises:
            VocabularyError: the vocabulary has no such token.
        """
        if tokens not in self._ids:
            listed: set[int] = set()
            for name in tokens.names:
                if name not in self._named:
                    raise VocabularyError(f"this vocabulary has no token {name}, which the grammar asks for")
                listed |= self._named[name]
            for token_id in tokens.ids:
                if not 0 <= token_id < self._size:
                    raise VocabularyError(
                        f"this vocabulary has no token {token_id}, which the grammar asks for: it has {self._size:,}"
                    )
                listed.add(token_id)
            inside = set(range(self._size)) - listed if tokens.negated else listed
            self._ids[tokens] = frozenset(inside - set(self._eos_ids))
        return self._ids[tokens]

    def holding(self, token_id: int) -> Callable[[TokenSet], bool]:
        """Which sets hold a token."""
        return lambda tokens: token_id in self.ids(tokens)

    def words(self, tokens: TokenSet) -> npt.NDArray[np.uint32]:
        """The mask of a set."""
        bits = np.zeros(-(-self._size // 32) * 32, np.bool_)
        bits[list(self.ids(tokens))] = True
        return np.packbits(bits, bitorder="little").view(np.uint32)
