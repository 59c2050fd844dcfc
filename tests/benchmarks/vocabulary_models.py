"""Models that cost nothing over real vocabularies, for benchmarks: what remains of a step is Turnstile's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from app.workers.decode import DecodeHandler
from engine.models.downloads import cache_folder
from engine.models.source import Logits, ModelError
from engine.models.uniform import UniformSource
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

SMOLLM2, TEKKEN = "smollm2", "tekken"
SIZES = {SMOLLM2: 49_152, TEKKEN: 131_072}
_POOL = 8  # sets of logits, which follow one another


class Rotating(UniformSource):
    """Gives one of a few sets of logits, by the number of tokens so far."""

    def __init__(self, name: str, vocabulary: Vocabulary) -> None:
        super().__init__(name, vocabulary)
        drawn = np.random.default_rng(7).normal(0, 3, (_POOL, self.width)).astype(np.float32)
        drawn[:, sorted(vocabulary.eos_ids)] = -12  # an output should not end by chance
        self._pool = tuple(drawn)

    def logits(self, ids: object) -> Logits:
        return self._pool[len(ids) % _POOL]


@cache
def vocabulary(name: str) -> Vocabulary:
    """A vocabulary by name.

    Raises:
        ModelError: this machine does not have it.
    """
    path = tokenizer(name)
    if path is None:
        raise ModelError("errors.unreadable", file=name, reason=why_not(name))
    return Vocabulary.from_tokenizer(path)


def tokenizer(name: str) -> Path | None:
    """Where a tokenizer lies; None where it does not."""
    if name == SMOLLM2:
        path = cache_folder() / "smollm2-135m-instruct"
    else:
        try:
            import mistral_common
        except ImportError:
            return None
        path = Path(mistral_common.__file__).parent / "data" / "tekken_240911.json"
    return path if path.exists() else None


def why_not(name: str) -> str:
    """What to do where a tokenizer is not here."""
    if name == SMOLLM2:
        return "choose SmolLM2 in the window once, or `turnstile generate --model smollm2`"
    return "install mistral-common, which brings it"


def load(spec: str, _cancel: CancelToken) -> Rotating:
    """A model over the vocabulary of this name."""
    return Rotating(spec, vocabulary(spec))


def decode_handler() -> DecodeHandler:
    """The decode group's handler with these models."""
    return DecodeHandler(load)
