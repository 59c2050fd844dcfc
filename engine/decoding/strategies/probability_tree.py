"""All outputs above a mass, best first: a search in the tree of prefixes, with bounds of what was not reached.

The probability of a prefix bounds that of every text below it, so that a search which always opens the most probable
prefix has found all outputs above a mass once no open prefix is above it. An output is a sequence of tokens; those that
write the same text are one row. Three probabilities are shown: the model's, that of local masking, and p(text |
grammar). The last is known within bounds alone, since P(grammar) is: what was found, and that plus what is still open.
An output above a mass m of p(text | grammar) has at least m times the former, which is the limit of that search.

Rejected: enumeration (`exact`), which asks about every prefix of a language and so ends for small ones alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from math import exp, inf, log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.decoding.strategies.found_texts import FoundText, FoundTexts, Measure
from engine.decoding.strategies.prefix_tree import AllowedTokens, CallLimitError, Inquiry, TokenPrefix

_TOGETHER: Final = 16  # prefixes that the model is asked about at once
_WIDEST: Final = 4_096  # continuations of a prefix that are kept


class _Siblings(NamedTuple):
    """The continuations of a prefix that were not taken yet, in descending order.

    Attributes:
        log_value: the logarithm of the measure of the first of them, negative for a heap.
        number: a number of its own, so that equal ones are taken in the order in which they were found.
        prefix: the prefix.
        allowed: the model's answer after it.
        log_local: the logarithm of the prefix's probability under local masking.
        order: int64[k], the indices of the continuations.
        tails: float64[k], the sum of the shares of each and all after it.
        rank: the first that was not taken.
    """

    log_value: float
    number: int
    prefix: TokenPrefix
    allowed: AllowedTokens
    log_local: float
    order: NDArray[np.int64]
    tails: NDArray[np.float64]
    rank: int


class ProbabilityTree:
    """A search for all outputs above a mass.

    Args:
        inquiry: the run's access to the tree of prefixes.
        measure: which probability the mass is of.
        mass: the mass, above 0.
    """

    def __init__(self, inquiry: Inquiry, measure: Measure, mass: float) -> None:
        self._inquiry, self._measure, self._mass = inquiry, measure, mass
        self._heap: list[_Siblings] = []
        self._numbers = count()
        self._open: list[tuple[TokenPrefix, float]] = [(inquiry.tree.root, 0.0)]
        self._found: list[tuple[TokenPrefix, float]] = []
        self._legal = 0.0  # the mass of what was found
        self._floor = 0.0  # a lower bound of P(grammar) that is known before
        self._dropped = -inf  # the largest value of a continuation that was dropped
        self._dropped_mass = self._dropped_local = 0.0
        self._has_begun = False
        self._is_stopped = False

    def advance(self) -> bool:
        """Ask about the most probable prefixes; return whether there are more above the mass.

        Raises:
            ModelError, CancelledError: as `PrefixTree.ask`.
        """
        try:
            self._begin()
            if not self._open:
                self._take()
            self._ask()
        except CallLimitError:
            self._is_stopped = True
            return False
        return bool(self._open) or (bool(self._heap) and -self._heap[0].log_value >= self._least)

    @property
    def found(self) -> int:
        """The number of outputs that were found."""
        return len(self._found)

    def report(self) -> FoundTexts:
        """Return what was found so far."""
        open_mass = self._dropped_mass + sum(exp(prefix.log_p) for prefix, _ in self._open)
        open_local = self._dropped_local + sum(exp(log_local) for _, log_local in self._open)
        for one in self._heap:
            tail = float(one.tails[one.rank])
            open_mass += exp(one.prefix.log_p + one.allowed.log_z) * tail
            open_local += exp(one.log_local) * tail
        bounds = max(self._legal, self._floor), min(self._legal + open_mass, 1.0)
        least = self._least
        ended = not self._open and (not self._heap or -self._heap[0].log_value < least) and self._dropped < least
        rows = sorted(self._rows(bounds), key=lambda one: (-one.of(self._measure), one.text))
        is_local = self._measure is Measure.LOCAL
        listed = tuple(one for one in rows if log(one.p_local if is_local else one.p) >= least)
        return FoundTexts(
            listed,
            bounds,
            self._left(listed, open_mass, open_local),
            self._inquiry.calls,
            ended and not self._is_stopped,
        )

    def _left(self, listed: Sequence[FoundText], open_mass: float, open_local: float) -> float:
        """Return how much of the measure others than the listed texts have, at most."""
        if self._measure is Measure.LOCAL:
            found = sum(exp(log_local) for _, log_local in self._found)
            return min(max(open_local + found - sum(one.p_local for one in listed), 0.0), 1.0)
        left = open_mass + self._legal - sum(one.p for one in listed)
        if self._measure is Measure.GIVEN:
            left /= (open_mass + self._legal) or 1.0
        return min(max(left, 0.0), 1.0)

    @property
    def _least(self) -> float:
        """The logarithm of the measure below which no output is looked for."""
        least = self._mass
        if self._measure is Measure.GIVEN:
            least *= max(self._legal, self._floor)
        return log(least) - 1e-9 if least > 0 else -inf  # a mass that is exactly reached counts

    def _rows(self, p_grammar: tuple[float, float]) -> Iterator[FoundText]:
        rows: dict[bytes, list[tuple[TokenPrefix, float]]] = {}
        for prefix, log_local in self._found:
            rows.setdefault(prefix.data, []).append((prefix, log_local))
        low, high = p_grammar
        for text, spellings in rows.items():
            best = max(spellings, key=lambda one: one[0].log_p)[0]
            p = sum(exp(prefix.log_p) for prefix, _ in spellings)
            p_local = sum(exp(log_local) for _, log_local in spellings)
            if p > 0:
                yield FoundText(text, tuple(best.ids), len(spellings), p, p_local, (p / high, min(p / low, 1.0)))

    def _begin(self) -> None:
        """Follow the most probable tokens to a first text, so that P(grammar) has a lower bound."""
        if self._has_begun:
            return
        self._has_begun = True
        prefix = self._inquiry.tree.root
        if prefix.is_complete:
            self._open, self._found, self._legal = [], [(prefix, 0.0)], 1.0
        elif not prefix.is_open:
            self._open = []
        elif self._measure is Measure.GIVEN:
            while prefix.is_open and (allowed := self._inquiry.allowed(prefix)).ids.shape[0]:
                prefix = self._inquiry.take(prefix, allowed, int(np.argmax(allowed.shares)))
            if prefix.is_complete:
                self._floor = exp(prefix.log_p)

    def _take(self) -> None:
        """Take the most probable continuations: keep those that are texts, and list those that are open."""
        while self._heap and len(self._open) < _TOGETHER and -self._heap[0].log_value >= self._least:
            one = heappop(self._heap)
            index = int(one.order[one.rank])
            if one.rank + 1 < one.order.shape[0]:
                self._push(one._replace(rank=one.rank + 1))
            child = self._inquiry.take(one.prefix, one.allowed, index)
            log_local = one.log_local + log(float(one.allowed.shares[index]))
            if child.is_complete:
                self._found.append((child, log_local))
                self._legal += exp(child.log_p)
            elif child.is_open:
                self._open.append((child, log_local))

    def _ask(self) -> None:
        """Ask about the listed prefixes, one by one where together they would be too many."""
        try:
            answers = self._inquiry.allowed_of_all([prefix for prefix, _ in self._open])
        except CallLimitError:
            answers = [self._inquiry.allowed(self._open[0][0])]
        for (prefix, log_local), allowed in zip(self._open, answers, strict=False):
            self._expand(prefix, log_local, allowed)
        del self._open[: len(answers)]

    def _expand(self, prefix: TokenPrefix, log_local: float, allowed: AllowedTokens) -> None:
        order = np.argsort(-allowed.shares, kind="stable")
        shares = allowed.shares[order]
        base = self._base(prefix, log_local, allowed)
        is_kept = (shares > 0) & (shares >= exp(min(self._least - base, 0.0)))
        kept = min(int(np.count_nonzero(is_kept)), _WIDEST)
        if kept < shares.shape[0] and shares[kept] > 0:
            self._dropped = max(self._dropped, base + log(float(shares[kept])))
            rest = float(shares[kept:].sum())
            self._dropped_mass += exp(prefix.log_p + allowed.log_z) * rest
            self._dropped_local += exp(log_local) * rest
        if kept:
            tails = np.cumsum(shares[:kept][::-1])[::-1]
            self._push(_Siblings(0.0, next(self._numbers), prefix, allowed, log_local, order[:kept], tails, 0))

    def _base(self, prefix: TokenPrefix, log_local: float, allowed: AllowedTokens) -> float:
        return log_local if self._measure is Measure.LOCAL else prefix.log_p + allowed.log_z

    def _push(self, one: _Siblings) -> None:
        share = float(one.allowed.shares[one.order[one.rank]])
        heappush(self._heap, one._replace(log_value=-(self._base(one.prefix, one.log_local, one.allowed) + log(share))))
