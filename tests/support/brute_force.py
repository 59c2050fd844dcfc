"""Masks and token budgets by their definitions: every token is tried, and every way on from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from engine.compile import CompiledGrammar
from engine.matching import Matcher
from engine.vocabulary import Vocabulary


def brute_force(grammar: CompiledGrammar, matcher: Matcher) -> npt.NDArray[np.int32]:
    """Return the mask that a matcher must have in its present state, as int32[words]."""
    return bits(matcher.vocabulary, set(allowed(grammar, matcher)))


def allowed(grammar: CompiledGrammar, matcher: Matcher) -> list[int]:
    """The ids that may come next, in order."""
    if matcher.is_finished or grammar.is_empty:
        return []
    automaton, vocabulary = grammar.automaton, matcher.vocabulary
    ids = [i for i, token in enumerate(vocabulary.tokens) if token and automaton.run(matcher.configuration, token)]
    return sorted(ids + (list(vocabulary.eos_ids) if matcher.is_accepting else []))


def bits(vocabulary: Vocabulary, ids: set[int]) -> npt.NDArray[np.int32]:
    """The ids as a bitmask; what is beyond the vocabulary is 0."""
    words = (vocabulary.size + 31) // 32
    flags = np.array([index in ids for index in range(32 * words)])
    return np.packbits(flags, bitorder="little").view("<u4").astype(np.uint32).view(np.int32)


@dataclass
class Endings:
    """How far the end is from a configuration, one token after the other."""

    grammar: CompiledGrammar
    vocabulary: Vocabulary
    _can: dict[tuple[int, int], bool] = field(default_factory=dict)

    def can_end(self, matcher: Matcher, tokens: int) -> bool:
        """Whether the text can be complete within so many tokens, an end token not counted."""
        if matcher.is_accepting:
            return tokens >= 0
        if tokens <= 0:
            return False
        key = matcher.configuration, tokens
        if key not in self._can:
            self._can[key] = any(self.can_end(after, tokens - 1) for after in self.after(matcher).values())
        return self._can[key]

    def after(self, matcher: Matcher) -> Mapping[int, Matcher]:
        """The matchers behind every token that is no end."""
        found = {}
        for token_id in range(self.vocabulary.size):
            if token_id not in self.vocabulary.eos_ids and matcher.is_allowed(token_id):
                found[token_id] = matcher.fork()
                found[token_id].accept(token_id)
        return found

    def allowed(self, matcher: Matcher, tokens: int) -> npt.NDArray[np.bool_]:
        """What a budget allows, end tokens included, which count."""
        end = 1 if self.vocabulary.eos_ids else 0
        allowed = np.zeros(self.vocabulary.size, dtype=np.bool_)
        if matcher.is_finished or tokens <= 0:
            return allowed
        if matcher.is_accepting:
            allowed[list(self.vocabulary.eos_ids)] = True
        for token_id, behind in self.after(matcher).items():
            allowed[token_id] = self.can_end(behind, tokens - 1 - end)
        return allowed

    def minimum(self, most: int = 12) -> int | None:
        """The smallest budget of a whole output; None where it is above `most`."""
        end = 1 if self.vocabulary.eos_ids else 0
        start = Matcher(self.grammar, self.vocabulary)
        return next((n + end for n in range(most + 1) if self.can_end(start, n)), None)
