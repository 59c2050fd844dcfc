"""The answer of a logit source, which may be a part of its distribution, and the prices of tokens that it left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.logits import padded
from engine.models import LogitSource, ModelError
from engine.models.source import PricesTokens, WeighsMasks

_MOST_TOTAL = 1.01  # the sum of probabilities that a server rounded is less


@dataclass(frozen=True, slots=True, eq=False)
class WeighedMask:
    """A mask whose allowed mass a source returned.

    Attributes:
        allowed: bool[V], the mask.
        log_mass: the natural logarithm of the mass; its error is below `MASS_ERROR`.
        most: no unknown allowed token has a larger log-probability.
    """

    allowed: NDArray[np.bool_]
    log_mass: float
    most: float


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The answer of a source after some ids.

    Attributes:
        logits: float[W]; NaN where unknown.
        most: no unknown token has a larger log-probability; None if the source returned its full distribution.
        is_shifted: whether they are log-probabilities: the model's logits up to a constant.
        weighed: the mask for which the mass of the allowed tokens is known; None without one.
    """

    logits: NDArray[np.floating[Any]]
    most: float | None = None
    is_shifted: bool = False
    weighed: WeighedMask | None = None

    @classmethod
    def of(cls, logits: NDArray[np.floating[Any]], *, is_shifted: bool = False) -> Answer:
        """Return the answer that logits are; see `LogitSource.logits`.

        Args:
            logits: float[W].
            is_shifted: whether they are log-probabilities, even if none is unknown.

        Raises:
            ModelError: they break the contract of a partial distribution.
        """
        if not np.isnan(logits.max(initial=-np.inf)):
            return cls(logits, is_shifted=is_shifted)
        known = logits[logits > -np.inf].astype(np.float64)
        if not known.shape[0]:
            raise ModelError("errors.decoding.partial.nothing_known")
        total = float(np.exp(known).sum())
        if total > _MOST_TOTAL:
            raise ModelError("errors.decoding.partial.total", total=total)
        return cls(logits, float(known.min()), is_shifted=True)

    def unknown_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of some ids that are unknown."""
        if self.most is None:
            return ids[:0]
        known_ids = ids[ids < self.logits.shape[0]]
        found: NDArray[np.int64] = known_ids[np.isnan(self.logits[known_ids])]
        return found


def priced(answer: Answer, source: LogitSource, history: Sequence[int], ids: NDArray[np.int64]) -> Answer:
    """Ask a source for the unknown ones of some tokens, if it prices tokens, and return the answer with them.

    Args:
        answer: the source's answer.
        source: the source.
        history: the ids before.
        ids: int64[n], the ids; the first `most_priced` unknown ones are asked for.
    """
    if answer.most is None or not isinstance(source, PricesTokens):
        return answer
    unknown = answer.unknown_of(ids)[: source.most_priced]
    if not unknown.shape[0]:
        return answer
    logits = answer.logits.copy()
    logits[unknown] = source.price(history, unknown.tolist())
    logits.setflags(write=False)
    return replace(answer, logits=logits)


def weighed(answer: Answer, source: LogitSource, history: Sequence[int], allowed: NDArray[np.bool_]) -> Answer:
    """Ask a source for the mass of the allowed tokens and the best of them, and return the answer with those.

    Args:
        answer: the source's answer.
        source: the source; one that cannot say changes nothing.
        history: the ids before.
        allowed: bool[V], the mask.
    """
    width = answer.logits.shape[0]
    if answer.most is None or not isinstance(source, WeighsMasks):
        return answer
    part = source.weigh(history, padded(allowed[:width], width))
    if part is None:
        return answer
    found = np.where(np.isnan(answer.logits), np.where(allowed[:width], part.log_probabilities, np.nan), answer.logits)
    found.setflags(write=False)
    known = part.log_probabilities[part.log_probabilities > -np.inf]
    return replace(answer, logits=found, weighed=WeighedMask(allowed, part.log_mass, float(known.min())))
