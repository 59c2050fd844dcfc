"""The declaration of a strategy: its name, its texts, and how it draws.

Declarations import neither numpy nor a model: a window reads them at its start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.source.catalogue import catalogue_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.decoding.strategies.prefix_tree import AllowedTokens, Inquiry, TokenPrefix


class NextShares(Protocol):
    """A function of an open prefix and its allowed tokens: with which weight a strategy takes each, float64[k]."""

    def __call__(self, prefix: TokenPrefix, allowed: AllowedTokens, /) -> NDArray[np.float64]:
        """Return the weights."""


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One attempt of a strategy to draw a text.

    Attributes:
        prefix: the text, or the prefix at which the attempt failed.
        is_accepted: whether it is a text of the language.
        log_weight: the logarithm of its weight among all draws of the run; those of equal weight have 0.
        log_ratio: the logarithm of p(text) / q(text), where q is the probability of this attempt; its mean over a fixed
            number of attempts, failed ones with a ratio of 0, is an unbiased estimate of P(grammar). None if the
            strategy draws at nothing.
    """

    prefix: TokenPrefix
    is_accepted: bool
    log_weight: float = 0.0
    log_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class DecodingStrategy:
    """A strategy that draws texts. A module under `decoders` has one such object, named `STRATEGY`.

    Its texts are in the catalogue under `strategies.strategy.NAME`, with `_` for `-`: `name` and `tip`.

    Attributes:
        name: its name on the command line, which is that of its module.
        draw: yields attempts for a number of samples, with a random generator; a function of the generator's seed and
            the model alone.
        draws_until_accepted: whether failed attempts do not count as samples, so that it draws until as many texts as
            requested were accepted.
        needs_rows: whether it needs full distributions, also of tokens that are not allowed.
        next_shares: returns the shares with which the draw after some others takes each token, if these define the
            distribution of its text; None for others.
    """

    name: str
    draw: Callable[[Inquiry, int, np.random.Generator], Iterator[Draw]]
    draws_until_accepted: bool = False
    needs_rows: bool = False
    next_shares: Callable[[Inquiry, Sequence[Draw]], NextShares] | None = None

    @property
    def title(self) -> str:
        """Return its name for the user."""
        return catalogue_text(f"strategies.strategy.{self._key}.name")

    @property
    def description(self) -> str:
        """Return what it draws from and what it costs, for the user."""
        return catalogue_text(f"strategies.strategy.{self._key}.tip")

    @property
    def _key(self) -> str:
        return self.name.replace("-", "_")
