"""A logit source that returns a part of another's distribution, as a server does that lists its best tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors import log_sum_exp, sanitise
from engine.decoding.sampler import decide
from engine.decoding.values import SamplerSettings
from engine.models import LogitSource
from engine.models.source import DrawSettings, MaskedPart


def log_probabilities(logits: NDArray[np.floating]) -> NDArray[np.float32]:
    clean = sanitise(logits, logits.shape[0])
    return (clean - log_sum_exp(clean)).astype(np.float32)


def best_only(logits: NDArray[np.floating], count: int) -> NDArray[np.float32]:
    """Hide all but the best log-probabilities; what the model cannot produce stays known."""
    return best_only_of(log_probabilities(logits), count)


class PartialSource:
    """Lists the best tokens of a source, and does nothing more.

    Args:
        source: the source.
        listed: how many tokens it lists.

    Attributes:
        asked: what it was asked for, in order: `list`, `price` and the tokens, `draw` and the settings.
    """

    def __init__(self, source: LogitSource, listed: int = 5) -> None:
        self.source, self.listed = source, listed
        self.name, self.vocabulary, self.width = source.name, source.vocabulary, source.width
        self.context_length, self.chat_template = source.context_length, source.chat_template
        self.fingerprint = source.fingerprint
        self.asked: list[tuple[object, ...]] = []

    def logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        self.asked.append(("list",))
        return best_only(self.source.logits(ids), self.listed)

    def encode(self, text: str) -> list[int]:
        return self.source.encode(text)

    def encode_chat(self, messages: Sequence[tuple[str, str]], assistant_prefix: str = "") -> list[int]:
        return self.source.encode_chat(messages, assistant_prefix)


class PricingSource(PartialSource):
    """A source that prices named tokens, too."""

    most_priced = 8

    def price(self, ids: Sequence[int], token_ids: Sequence[int]) -> NDArray[np.float32]:
        self.asked.append(("price", *token_ids))
        assert len(token_ids) <= self.most_priced
        priced: NDArray[np.float32] = log_probabilities(self.source.logits(ids))[list(token_ids)]
        return priced


class DrawingSource(PricingSource):
    """A source that draws under a mask, too."""

    def draw(self, ids: Sequence[int], allowed: NDArray[np.bool_], settings: DrawSettings) -> int:
        self.asked.append(("draw", settings))
        sampler = SamplerSettings(
            temperature=settings.temperature, top_k=settings.top_k, top_p=settings.top_p, min_p=settings.min_p
        )
        return decide(self.source.logits(ids), allowed, (), sampler).draw(settings.seed, 0)


class WeighingSource(PricingSource):
    """A source that lists its best tokens under a mask, too, with the mass of all of them, and prices any number."""

    most_priced, weighs_masks = 100_000, True

    def weigh(self, ids: Sequence[int], allowed: NDArray[np.bool_]) -> MaskedPart:
        self.asked.append(("weigh",))
        return weighed_part(self.source.logits(ids), allowed, self.listed)


def weighed_part(logits: NDArray[np.floating], allowed: NDArray[np.bool_], count: int) -> MaskedPart:
    """Return the best allowed tokens of full logits, and the mass of all allowed ones."""
    under = np.where(allowed, log_probabilities(logits), -np.inf)
    return MaskedPart(best_only_of(under, count), log_sum_exp(under.astype(np.float64)))


def best_only_of(listed: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Hide all but the best of some log-probabilities; what is `-inf` stays known."""
    found = listed.astype(np.float32)
    beyond = np.argsort(-found, kind="stable")[count:]
    found[beyond[found[beyond] > -np.inf]] = np.nan
    return found
