"""What a grammar's token elements mean in a vocabulary: ids.

A name is a special token's name, or the spelling of a token that has bytes.
EOS ids are in no set: an end is the grammar's to allow, not an element's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from engine.grammar import TokenSet
from engine.vocabulary import Vocabulary
from engine.vocabulary.errors import VocabularyError


class TokenSets:
    """A grammar's token elements in one vocabulary.

    Raises:
        VocabularyError: the vocabulary lacks a token that the grammar names.
    """

    def __init__(self, vocabulary: Vocabulary, elements: Iterable[TokenSet]) -> None:
        self._size = vocabulary.size
        named: dict[str, set[int]] = {}
        for token_id, name in vocabulary.special.items():
            named.setdefault(name, set()).add(token_id)
        for token_id, token in enumerate(vocabulary.tokens):
            if token is not None:
                named.setdefault(token.decode("utf-8", "replace"), set()).add(token_id)
        self._ids = {tokens: self._look_up(tokens, named) - set(vocabulary.eos_ids) for tokens in elements}

    def _look_up(self, tokens: TokenSet, named: Mapping[str, set[int]]) -> set[int]:
        listed = set(tokens.ids)
        for name in tokens.names:
            if name not in named:
                raise VocabularyError(f"this vocabulary has no token {name}, which the grammar asks for")
            listed |= named[name]
        for token_id in tokens.ids:
            if token_id >= self._size:
                raise VocabularyError(
                    f"this vocabulary has no token {token_id}, which the grammar asks for: it has {self._size:,}"
                )
        return set(range(self._size)) - listed if tokens.negated else listed

    def holding(self, token_id: int) -> Callable[[TokenSet], bool]:
        """Which sets hold a token."""
        return lambda tokens: token_id in self._ids[tokens]

    def ids(self, sets: Iterable[TokenSet]) -> set[int]:
        """The ids that some of the sets hold."""
        return {token_id for tokens in sets for token_id in self._ids[tokens]}

    def words(self, tokens: TokenSet) -> npt.NDArray[np.uint32]:
        """The mask of a set."""
        bits = np.zeros(-(-self._size // 32) * 32, np.bool_)
        bits[list(self._ids[tokens])] = True
        return np.packbits(bits, bitorder="little").view(np.uint32)
