"""A logit source of a tokenizer alone: all tokens are equally likely.

It shows the effect of a grammar on a vocabulary without a model. A prompt is tokenised
greedily by the longest token, since nothing depends on the tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from engine.models.source import Logits, Message, ModelError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, VocabularyError


class UniformSource:
    """Equal logits over a tokenizer's vocabulary; for the attributes see `LogitSource`."""

    context_length: int | None = None
    chat_template = False

    def __init__(self, name: str, vocabulary: Vocabulary) -> None:
        self.name, self.vocabulary, self.width = name, vocabulary, vocabulary.size
        self.fingerprint = vocabulary.fingerprint
        self._logits = np.zeros(self.width, dtype=np.float32)
        self._logits.setflags(write=False)
        self._ids = {token: index for index, token in reversed(list(enumerate(vocabulary.tokens))) if token}
        self._longest = max(map(len, self._ids), default=0)

    def logits(self, ids: Sequence[int]) -> Logits:
        """See `LogitSource`."""
        return self._logits

    def encode(self, text: str) -> list[int]:
        """See `LogitSource`."""
        data, ids, at = text.encode(), [], 0
        while at < len(data):
            for length in range(min(self._longest, len(data) - at), 0, -1):
                if (token_id := self._ids.get(data[at : at + length])) is not None:
                    ids.append(token_id)
                    at += length
                    break
            else:
                position = len(data[:at].decode("utf-8", errors="ignore")) + 1
                raise ModelError("errors.models.prompt.uniform", character=text[position - 1], position=position)
        return ids or [min(self.vocabulary.eos_ids, default=0)]

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """See `LogitSource`; always raises, since there is no template."""
        raise ModelError("errors.models.template.uniform")


def load_uniform(path: Path) -> UniformSource:
    """Read a tokenizer file or folder.

    Raises:
        ModelError: there is none, or it cannot be read.
    """
    if not path.exists():
        raise ModelError("errors.models.no_tokenizer", path=path)
    try:
        vocabulary = Vocabulary.from_tokenizer(path)
    except VocabularyError as error:
        raise ModelError.of(error) from error
    return UniformSource(catalogue_text("sources.name.uniform", file=path.name), vocabulary)
