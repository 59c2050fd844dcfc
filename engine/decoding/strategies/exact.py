"""The exact distribution of a small language: all its token sequences, priced by the model.

A text may be written by several token sequences; its probability is the sum of theirs. The result depends on the model
alone, and so does what a strategy with known shares would draw.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log
from typing import Final

from engine.decoding.strategies.prefix_tree import Inquiry, PrefixTree
from engine.decoding.strategies.strategy import NextShares
from engine.source import CancelToken, LimitExceededError

MOST_TEXTS: Final = 10_000
MOST_PREFIXES: Final = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class ExactTexts:
    """The texts of a language and their probabilities.

    Attributes:
        p_grammar: the probability that the model alone writes one of them.
        p: the probability of each text, given that the model writes one of them; empty if it cannot.
        calls: the number of prefixes that were asked about.
    """

    p_grammar: float
    p: Mapping[bytes, float]
    calls: int
    _inquiry: Inquiry

    def under(self, next_shares: NextShares) -> dict[bytes, float]:
        """Return the distribution of a strategy's texts, by the shares with which it takes tokens."""
        found: defaultdict[bytes, float] = defaultdict(float)
        level = [(self._inquiry.tree.root, 1.0)]
        while level:
            following = []
            for prefix, mass in level:
                if prefix.is_complete:
                    found[prefix.data] += mass
                elif prefix.is_open:
                    allowed = self._inquiry.allowed(prefix)
                    shares = next_shares(prefix, allowed)
                    total = float(shares.sum())
                    following += [
                        (self._inquiry.take(prefix, allowed, index), mass * share / total)
                        for index, share in enumerate(shares.tolist())
                        if share > 0
                    ]
            level = following
        return _normalised(found)


def enumerate_texts(
    tree: PrefixTree, cancel: CancelToken | None = None, *, most_prefixes: int = MOST_PREFIXES
) -> ExactTexts:
    """Ask about every prefix of a language, level by level.

    Args:
        tree: the tree, which answers what is known without the model.
        cancel: cancels the work, and receives its progress.
        most_prefixes: how many prefixes may be asked about.

    Raises:
        LimitExceededError: it has too many texts or prefixes.
        ModelError, CancelledError: as `PrefixTree.ask`.
    """
    inquiry = Inquiry(tree, cancel=cancel)
    masses: defaultdict[bytes, float] = defaultdict(float)
    level = [tree.root]
    while level:
        for prefix in level:
            if prefix.is_complete:
                masses[prefix.data] += exp(prefix.log_p)
        open_ones = [prefix for prefix in level if prefix.is_open]
        _check("errors.limit.strategy_texts", len(masses), MOST_TEXTS)
        _check("errors.limit.strategy_prefixes", inquiry.calls + len(open_ones), most_prefixes)
        answers = inquiry.allowed_of_all(open_ones)
        _check("errors.limit.strategy_prefixes", sum(one.ids.shape[0] for one in answers), MOST_TEXTS + most_prefixes)
        level = [
            inquiry.take(prefix, allowed, index)
            for prefix, allowed in zip(open_ones, answers, strict=True)
            for index in range(allowed.ids.shape[0])
        ]
    return ExactTexts(sum(masses.values()), _normalised(masses), inquiry.calls, inquiry)


def _check(what: str, given: int, limit: int) -> None:
    if given > limit:
        raise LimitExceededError(what, given=given, limit=limit)


def _normalised(masses: Mapping[bytes, float]) -> dict[bytes, float]:
    total = sum(masses.values())
    return {text: mass / total for text, mass in masses.items() if mass > 0} if total > 0 else {}


def divergence(p: Mapping[bytes, float], q: Mapping[bytes, float]) -> float:
    """Return KL(p ‖ q) in nats; infinite if q lacks a text of p."""
    total = 0.0
    for text, mass in p.items():
        if mass > 0:
            other = q.get(text, 0.0)
            total += mass * log(mass / other) if other > 0 else inf
    return max(total, 0.0)


def total_variation(p: Mapping[bytes, float], q: Mapping[bytes, float]) -> float:
    """Return half the sum of all differences of two distributions, 0 to 1."""
    return 0.5 * sum(abs(p.get(text, 0.0) - q.get(text, 0.0)) for text in {*p, *q})
