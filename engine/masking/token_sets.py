"""The token ids of a grammar's token elements in a vocabulary.

A name in an element is that of a special token, or the text of a token with bytes.
EOS ids are in no set, because acceptance decides whether an EOS is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from engine.grammar import TokenSet
from engine.masking.bitmask import mask_of
from engine.vocabulary import Vocabulary
from engine.vocabulary.errors import VocabularyError


class TokenSets:
    """A grammar's token elements in one vocabulary.

    Raises:
        VocabularyError: the vocabulary lacks a token that the grammar names.
    """

    def __init__(self, vocabulary: Vocabulary, elements: Iterable[TokenSet]) -> None:
        self._size = vocabulary.size
        ids_by_name: dict[str, set[int]] = {}
        for token_id, name in vocabulary.special.items():
            ids_by_name.setdefault(name, set()).add(token_id)
        for token_id, token in enumerate(vocabulary.tokens):
            if token is not None:
                ids_by_name.setdefault(token.decode("utf-8", "replace"), set()).add(token_id)
        self._ids = {tokens: self._resolve(tokens, ids_by_name) - set(vocabulary.eos_ids) for tokens in elements}

    def _resolve(self, tokens: TokenSet, ids_by_name: Mapping[str, set[int]]) -> set[int]:
        ids = set(tokens.ids)
        for name in tokens.names:
            if name not in ids_by_name:
                raise VocabularyError("errors.vocabulary.no_named_token", name=name)
            ids |= ids_by_name[name]
        for token_id in tokens.ids:
            if token_id >= self._size:
                raise VocabularyError("errors.vocabulary.no_token_id", id=token_id, size=self._size)
        return set(range(self._size)) - ids if tokens.negated else ids

    def holding(self, token_id: int) -> Callable[[TokenSet], bool]:
        """Return a predicate: whether a set contains this token."""
        return lambda tokens: token_id in self._ids[tokens]

    def ids(self, sets: Iterable[TokenSet]) -> set[int]:
        """Return the union of some sets, as ids."""
        return {token_id for tokens in sets for token_id in self._ids[tokens]}

    def words(self, tokens: TokenSet) -> npt.NDArray[np.uint32]:
        """Return the mask of a set, uint32[words]."""
        return mask_of(self._ids[tokens], self._size)
