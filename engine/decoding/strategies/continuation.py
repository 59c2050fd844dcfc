"""The probability of a text as the continuation of an output: the sum over all ways to write it in tokens.

A model gives ` no` more than its token ` no`: the tokens ` n` and `o` write it too, and an output that goes on with
` not` begins with it. So two sums are kept, over the token sequences that end where the text ends, and over those that
begin with it, whose last token may go beyond. Prefixes are expanded in the order of their mass. What is still open
bounds both sums, so that the search can stop before it has seen every tokenisation.

Under a grammar, each token has its share of the allowed mass, as engines draw it (local masking). Both distributions
come from the same answers of the model, one for each prefix.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.compile import CompiledGrammar, compile_grammar
from engine.decoding.processors.logits import Logits, sanitise, softmax
from engine.decoding.strategies.prefix_tree import CallLimitError, Inquiry, PrefixTree, TokenPrefix
from engine.decoding.values import Bounds, ContinuationMass, TextContinuation
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.source import InvariantError

MOST_CALLS: Final = 200
OPEN_SHARE: Final = 0.001
"""The search ends when what is open is at most this share of what was found."""


def any_text() -> CompiledGrammar:
    """Return the grammar of all texts: that of a tree whose answers are not restricted."""
    return compile_grammar("regex", "(?s:.*)")


class _Sums:
    """The sums of one distribution: what was found, and what is open."""

    def __init__(self) -> None:
        self.written = self.begins = self.stuck = 0.0

    def bounds(self, still_open: float) -> ContinuationMass:
        most = self.stuck + still_open
        return ContinuationMass(*(Bounds(found, min(1.0, found + most)) for found in (self.written, self.begins)))


@dataclass(frozen=True, slots=True)
class _Open:
    """A prefix of the text in tokens.

    Attributes:
        prefix: the tokens.
        offset: how many bytes they write.
        p: their probability under the model alone, and under the mask.
        matcher: the grammar's state after them; None without a grammar, or if it does not allow them.
    """

    prefix: TokenPrefix
    offset: int
    p: tuple[float, float]
    matcher: Matcher | None


def find_continuation(inquiry: Inquiry, text: bytes, matcher: Matcher | None = None) -> TextContinuation:
    """Return the probability of a text as a continuation of what a tree's prompt holds.

    Args:
        inquiry: the access to a tree of `any_text` that keeps rows; its limit of calls ends the search with bounds.
        text: the text.
        matcher: the grammar's state before the text; None without a grammar.

    Raises:
        InvariantError: the text is empty.
        ModelError, CancelledError: as `Inquiry.allowed`.
    """
    if not text:
        raise InvariantError("errors.decoding.empty_text")
    search = _Search(inquiry.tree, text, matcher)
    while search.heap and not search.is_done:
        best = search.pop()
        if not best.prefix.is_open:  # the model's context is full
            search.leave(best)
            continue
        try:
            row = inquiry.allowed(best.prefix).row
        except CallLimitError:
            search.leave(best)
            break
        assert row is not None
        search.expand(best, softmax(sanitise(row, inquiry.tree.model.vocabulary.size)))
    return search.result(inquiry.calls)


class _Search:
    def __init__(self, tree: PrefixTree, text: bytes, matcher: Matcher | None) -> None:
        self._tree, self._text, self._vocabulary = tree, text, tree.model.vocabulary
        self._has_grammar = matcher is not None
        self._sums, self._spellings, self._count = (_Sums(), _Sums()), 0, 0
        self.heap: list[tuple[float, int, _Open]] = []
        self._push(_Open(tree.root, 0, (1.0, 1.0 if matcher is not None else 0.0), matcher))

    @property
    def is_done(self) -> bool:
        """Return whether what is open does not matter in either distribution."""
        return all(self._open(which) + sums.stuck <= OPEN_SHARE * sums.written for which, sums in enumerate(self._sums))

    def _open(self, which: int) -> float:
        return math.fsum(one.p[which] for _, _, one in self.heap)

    def _push(self, one: _Open) -> None:
        self._count += 1  # of equal ones, the older first
        heapq.heappush(self.heap, (-max(one.p), self._count, one))

    def pop(self) -> _Open:
        return heapq.heappop(self.heap)[2]

    def leave(self, one: _Open) -> None:
        """Count a prefix that cannot be expanded as open for good."""
        for sums, p in zip(self._sums, one.p, strict=True):
            sums.stuck += p

    def expand(self, one: _Open, p: Logits) -> None:
        """Add the tokens that may follow a prefix, given the model's probabilities, float64[W]."""
        shares = np.zeros_like(p)
        if one.matcher is not None:
            allowed = unpack_mask(one.matcher.bitmask(), self._vocabulary.size)
            shares[: allowed.shape[0]] = p[: allowed.shape[0]] * allowed
            shares /= shares.sum() or 1.0
        rest = self._text[one.offset :]
        for length, token_id in self._tokens_of(rest):
            both = one.p[0] * float(p[token_id]), one.p[1] * float(shares[token_id])
            if length == len(rest):
                self._spellings += 1
                self._add(both, is_end=True)
            elif any(both):
                following = None
                if one.matcher is not None and both[1]:
                    following = one.matcher.fork()
                    following.accept(token_id)
                child = self._tree.child(one.prefix, token_id, math.log(p[token_id]) if p[token_id] else -math.inf)
                self._push(_Open(child, one.offset + length, both, following))
        longer = self._longer(rest)
        self._add((one.p[0] * float(p[longer].sum()), one.p[1] * float(shares[longer].sum())), is_end=False)

    def _add(self, masses: tuple[float, float], *, is_end: bool) -> None:
        for sums, mass in zip(self._sums, masses, strict=True):
            sums.begins += mass
            sums.written += mass if is_end else 0.0

    def _tokens_of(self, rest: bytes) -> Iterator[tuple[int, int]]:
        """Yield the tokens that write a beginning of some bytes, with its length."""
        trie = self._vocabulary.trie
        for length in range(1, min(len(rest), trie.height) + 1):
            node = trie.find(rest[:length])
            if node is None:
                return
            for token_id in trie.token_ids[trie.token_start[node] : trie.token_start[node + 1]].tolist():
                yield length, token_id

    def _longer(self, rest: bytes) -> list[int]:
        """Return the tokens that begin with some bytes and go beyond."""
        trie = self._vocabulary.trie
        node = trie.find(rest) if len(rest) <= trie.height else None
        if node is None:
            return []
        found: list[int] = trie.token_ids[trie.token_start[node + 1] : trie.token_start[trie.skip[node]]].tolist()
        return found

    def result(self, calls: int) -> TextContinuation:
        """Return the sums so far."""
        alone, masked = (sums.bounds(self._open(which)) for which, sums in enumerate(self._sums))
        return TextContinuation(self._text, alone, masked if self._has_grammar else None, self._spellings, calls)
