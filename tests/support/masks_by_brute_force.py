"""The mask by its definition: every token's bytes, run through the automaton one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.compile import CompiledGrammar
from engine.matching import Matcher
from engine.vocabulary import Vocabulary


def brute_force(grammar: CompiledGrammar, matcher: Matcher) -> npt.NDArray[np.int32]:
    """int32[words]: what a matcher of the grammar must allow where it stands."""
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
