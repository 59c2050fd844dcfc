"""The mask by its definition, on an automaton that no matcher ever used.

The grammar is compiled anew, so that nothing which kernels, tries or caches
filled in is read: every token's bytes are run through it, one after the other.
The only economy is that tokens which begin with a byte that cannot stand are
not run further.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine import CompiledGrammar, Vocabulary
from engine.automata.byte_automaton import DEAD
from engine.grammar import TokenSet


class BruteForce:
    """Which tokens of a vocabulary may come next."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._by_first_byte: dict[bytes, list[tuple[bytes, int]]] = {}
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                self._by_first_byte.setdefault(token[:1], []).append((token[1:], token_id))

    def after(self, grammar: CompiledGrammar, token_ids: Iterable[int]) -> int:
        """The configuration after tokens, from the start."""
        automaton, configuration = grammar.automaton, grammar.automaton.start
        for token_id in token_ids:
            token = self.vocabulary.tokens[token_id] or b""
            if automaton.token_elements:
                configuration = self._take(grammar, configuration, token_id)
            else:
                configuration = automaton.run(configuration, token)
        return configuration

    def allowed(self, grammar: CompiledGrammar, configuration: int) -> set[int]:
        """The ids that may come next."""
        automaton = grammar.automaton
        found: set[int] = set()
        if configuration == DEAD:
            return found
        if automaton.accepts(configuration):
            found |= self.vocabulary.eos_ids
        if automaton.token_elements:
            everything = set(range(self.vocabulary.size)) - self.vocabulary.eos_ids
            return found | {i for i in everything if self._take(grammar, configuration, i) != DEAD}
        for first, tokens in self._by_first_byte.items():
            following = automaton.run(configuration, first)
            if following != DEAD:
                found.update(i for rest, i in tokens if automaton.run(following, rest) != DEAD)
        return found

    def _take(self, grammar: CompiledGrammar, configuration: int, token_id: int) -> int:
        token = self.vocabulary.tokens[token_id] or b""
        return grammar.automaton.take_token(configuration, token, lambda tokens: self._holds(tokens, token_id))

    def _holds(self, tokens: TokenSet, token_id: int) -> bool:
        if token_id in self.vocabulary.eos_ids:
            return False
        token = self.vocabulary.tokens[token_id]
        name = self.vocabulary.special.get(token_id, None if token is None else token.decode("utf-8", "replace"))
        return (token_id in tokens.ids or name in tokens.names) != tokens.negated
