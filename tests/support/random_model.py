"""A logit source without a network: its answers are random, but always the same after the same ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.vocabulary import Vocabulary

LETTERS = [bytes([byte]) for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:\n "]


class RandomModel:
    """Counts what it is asked, in `asked`."""

    name = "random"
    chat_template = False
    fingerprint = "random"

    def __init__(
        self,
        vocabulary: Vocabulary | None = None,
        *,
        width: int | None = None,
        context_length: int | None = None,
        spread: float = 3.0,
    ) -> None:
        self.vocabulary = vocabulary or Vocabulary(LETTERS, [])
        self.width = width or self.vocabulary.size
        self.context_length = context_length
        self.asked: list[tuple[int, ...]] = []
        self._spread = spread

    def logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        self.asked.append(tuple(ids))
        answer = np.random.default_rng([7, *ids]).normal(0, self._spread, self.width)
        return answer.astype(np.float32)

    def encode(self, text: str) -> list[int]:
        return [self.vocabulary.tokens.index(bytes([byte])) for byte in text.encode()] or [0]

    def encode_chat(self, messages: Sequence[tuple[str, str]], assistant_prefix: str = "") -> list[int]:
        return self.encode("".join(text for _, text in messages) + assistant_prefix)


class GivenModel(RandomModel):
    """Gives the same logits everywhere."""

    def __init__(self, vocabulary: Vocabulary, given: Sequence[float]) -> None:
        super().__init__(vocabulary)
        self._given = np.array(given, dtype=np.float32)

    def logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        self.asked.append(tuple(ids))
        return self._given
