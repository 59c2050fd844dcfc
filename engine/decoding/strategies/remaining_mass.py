"""The mass that may still be legal after each prefix, learnt from draws: what ASAp and CARS share.

After a prefix that no draw has seen, everything may be legal: 1. After one that was seen it is Σ p(t) · r(prefix t)
over the allowed tokens, so it starts at Z and shrinks as draws go deeper. It is an upper bound of the probability that
a continuation is in the language, and becomes exact once everything below was seen. ASAp calls it the expected future.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.decoding.strategies.prefix_tree import AllowedTokens, Inquiry, PrefixState, TokenPrefix
from engine.decoding.strategies.strategy import Draw


class RemainingMass:
    """The remaining mass after each prefix that draws have seen.

    Args:
        inquiry: the run's access to the tree.
        unseen: the mass after a prefix that no draw has seen. With 0, the remaining mass is that of the texts that were
            found: a lower bound.
    """

    def __init__(self, inquiry: Inquiry, unseen: float = 1.0) -> None:
        self._inquiry, self._unseen = inquiry, unseen
        self._factors: dict[
            TokenPrefix, dict[int, float]
        ] = {}  # of seen prefixes: the remaining mass by index of the token
        self.of_root = 1.0

    def has_seen(self, prefix: TokenPrefix) -> bool:
        """Return whether a draw has asked about a prefix."""
        return prefix in self._factors

    def shares(self, prefix: TokenPrefix, allowed: AllowedTokens) -> NDArray[np.float64]:
        """Return the shares of the allowed tokens times what remains after each, float64[k]; they sum to at most 1."""
        factors = self._factors.get(prefix)
        if not factors:
            return allowed.shares * self._unseen
        found = allowed.shares * self._unseen
        for index, factor in factors.items():
            found[index] = allowed.shares[index] * factor
        return found

    def learn(self, last: TokenPrefix) -> None:
        """Count a draw that has asked about all prefixes of its last one, and about that too if it is open."""
        remaining = {PrefixState.COMPLETE: 1.0, PrefixState.DEAD: 0.0, PrefixState.OPEN: self._unseen}[last.state]
        prefix: TokenPrefix | None = last
        below: TokenPrefix | None = None
        while prefix is not None:
            if prefix.state is PrefixState.OPEN:
                allowed = self._inquiry.allowed(prefix)
                factors = self._factors.setdefault(prefix, {})
                if below is not None:
                    factors[int(np.searchsorted(allowed.ids, below.token_id))] = remaining
                remaining = float(self.shares(prefix, allowed).sum()) * allowed.z
            below, prefix = prefix, prefix.parent
        self.of_root = remaining

    @classmethod
    def after(cls, inquiry: Inquiry, draws: Sequence[Draw]) -> RemainingMass:
        """Return what a run has learnt from its draws."""
        found = cls(inquiry)
        for draw in draws:
            found.learn(draw.prefix)
        return found
