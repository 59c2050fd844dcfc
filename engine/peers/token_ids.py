"""Tokenisation of texts for the benchmark: greedily by the longest token, the same for every engine.

It differs from the model's tokenizer, but it works with every vocabulary, and all
engines are compared on the same ids.
"""

from __future__ import annotations

from engine.vocabulary import Vocabulary


class GreedyTokenizer:
    """A greedy tokeniser over the tokens of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._ids: dict[bytes, int] = {}
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                self._ids.setdefault(token, token_id)
        self._longest = max(map(len, self._ids), default=0)

    def spell(self, data: bytes) -> list[int] | None:
        """Return the ids of a text; None if the vocabulary has no token for some part."""
        ids, at = [], 0
        while at < len(data):
            for length in range(min(self._longest, len(data) - at), 0, -1):
                token_id = self._ids.get(data[at : at + length])
                if token_id is not None:
                    ids.append(token_id)
                    at += length
                    break
            else:
                return None
        return ids
