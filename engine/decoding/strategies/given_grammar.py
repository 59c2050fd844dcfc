"""p(token | prefix, grammar): the probability of the next token, given that the whole text will match.

It is p(t) · r(t) over the sum of all tokens, where r(t) is the probability that a continuation after t is in the
language. Local masking takes r(t) for 1. Where the rest of the language is small, it is enumerated, and all shares are
exact. Elsewhere, draws find bounds of r that hold for certain: the mass of the texts that they found from below, and
from above the mass that may still be legal (`RemainingMass`), so that

    p(t) r⁻(t) / (p(t) r⁻(t) + Σ p(s) r⁺(s))  ≤  p(t | prefix, grammar)  ≤  p(t) r⁺(t) / (p(t) r⁺(t) + Σ p(s) r⁻(s))

with sums over the other tokens. The draws are those of ASAp; weighed by the ratio of the model's probability to that of
the draw, they also give an estimate, with the error of a self-normalised mean (Owen, *Monte Carlo theory, methods and
examples*, 2013, 9.2). The estimate is no bound: a continuation that no draw found may have most of the mass.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.decoding.strategies.decoders import DECODERS
from engine.decoding.strategies.exact import enumerate_texts
from engine.decoding.strategies.given_values import GivenShare, GivenShares
from engine.decoding.strategies.prefix_tree import AllowedTokens, CallLimitError, Inquiry, PrefixTree, TokenPrefix
from engine.decoding.strategies.remaining_mass import RemainingMass
from engine.decoding.strategies.strategy import Draw
from engine.source import CancelToken, LimitExceededError

MOST_ENUMERATED: Final = 400  # prefixes
MOST_CALLS: Final = 4_000
MOST_DRAWS: Final = 1_000
MOST_LISTED: Final = 500  # tokens
_LEAST_DRAWS: Final = 10  # of an estimate
_NARROW: Final = 0.001  # bounds that say as much as an estimate
_QUANTILE: Final = 1.96


def given_shares(tree: PrefixTree, cancel: CancelToken | None = None, *, seed: int = 0) -> Iterator[GivenShares]:
    """Yield the probabilities of the next tokens: once if they are exact, else after each draw.

    Args:
        tree: the tree, whose root is the prefix.
        cancel: cancels the work.
        seed: the seed of the draws.

    Raises:
        EngineError: the model failed, or returns a part of its distribution that does not suffice.
        CancelledError: `cancel` was used.
    """
    if not tree.root.is_open:
        yield GivenShares(is_exact=True, is_done=True)
        return
    try:
        enumerate_texts(tree, cancel, most_prefixes=MOST_ENUMERATED)
    except LimitExceededError:
        yield from _drawn(tree, cancel, seed)
        return
    (allowed,) = tree.ask([tree.root])
    masses = np.array([_mass(tree.root.children[token_id]) for token_id in allowed.ids.tolist()])
    total = masses.sum()
    shares = masses / total if total > 0 else masses
    listed = {int(allowed.ids[at]): GivenShare(float(shares[at]), float(shares[at])) for at in _first(shares)}
    yield GivenShares(listed, is_exact=True, is_done=True)


def _mass(prefix: TokenPrefix) -> float:
    """Return the mass of the texts below a prefix, all of which are known."""
    if prefix.is_complete:
        return exp(prefix.log_p)
    return sum(map(_mass, prefix.children.values()))


def _first(shares: NDArray[np.float64]) -> list[int]:
    """Return the indices of the largest shares."""
    return list(map(int, np.argsort(-shares, kind="stable")[:MOST_LISTED]))


def _drawn(tree: PrefixTree, cancel: CancelToken | None, seed: int) -> Iterator[GivenShares]:
    inquiry = Inquiry(tree, MOST_CALLS, cancel)
    most, least = RemainingMass(inquiry), RemainingMass(inquiry, unseen=0.0)
    allowed, weights = inquiry.allowed(tree.root), dict[int, list[float]]()
    draws = DECODERS["asap"].draw(inquiry, MOST_DRAWS, np.random.default_rng(seed))
    count, found = 0, GivenShares()
    while True:
        try:
            draw = next(draws, None)
        except CallLimitError:
            draw = None
        if draw is None:
            break
        count += 1
        most.learn(draw.prefix)
        least.learn(draw.prefix)
        _count(draw, weights)
        found = _shares(allowed, most.shares(tree.root, allowed), least.shares(tree.root, allowed), weights, count)
        yield found
        if found.is_exact:
            return
    yield GivenShares(found.shares, count, is_exact=False, is_done=True)


def _count(draw: Draw, weights: dict[int, list[float]]) -> None:
    """Add the weight of a draw to those of its first token."""
    if draw.is_accepted and draw.log_ratio is not None:
        weights.setdefault(draw.prefix.ids[0], []).append(exp(draw.log_ratio))


def _shares(
    allowed: AllowedTokens,
    most: NDArray[np.float64],
    least: NDArray[np.float64],
    weights: dict[int, list[float]],
    count: int,
) -> GivenShares:
    """Return bounds and estimates.

    Args:
        allowed: the allowed tokens.
        most: float64[k], their shares times the upper bound of what follows.
        least: float64[k], the same with the lower bound.
        weights: the weights of the draws by their first token.
        count: the number of draws.
    """
    low = _ratio(least, most.sum() - most)
    high = _ratio(most, least.sum() - least)
    high[(most > 0) & (least.sum() - least <= 0)] = 1.0
    total = sum(map(sum, weights.values()))
    accepted = sum(map(len, weights.values()))
    squares = sum(weight * weight for listed in weights.values() for weight in listed)
    shares = {}
    for at in _first(high):
        token_id = int(allowed.ids[at])
        own, estimate, error = weights.get(token_id), None, 0.0
        if own and accepted >= _LEAST_DRAWS and high[at] - low[at] > _NARROW:
            estimate = sum(own) / total
            own_squares = sum(weight * weight for weight in own)
            variance = own_squares * (1 - 2 * estimate) + squares * estimate * estimate
            error = _QUANTILE * sqrt(max(variance, 0.0)) / total
            estimate = min(max(estimate, low[at]), high[at])
        shares[token_id] = GivenShare(float(low[at]), float(high[at]), estimate, error)
    is_exact = bool((high - low <= 1e-9).all())
    return GivenShares(shares, count, is_exact, is_done=is_exact)


def _ratio(own: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    total = own + np.maximum(others, 0.0)
    found: NDArray[np.float64] = np.divide(own, total, out=np.zeros_like(own), where=total > 0)
    return found
