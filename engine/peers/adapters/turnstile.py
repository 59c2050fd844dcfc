"""Turnstile as one of the compared engines."""

from __future__ import annotations

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.masking import clear_caches
from engine.matching import Matcher, warm
from engine.peers.adapter import OWN, Peer, empty_mask
from engine.vocabulary import Vocabulary


class OwnMatcher:
    """A `PeerMatcher` of Turnstile."""

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        self._grammar, self._vocabulary = grammar, vocabulary
        self.mask = empty_mask(vocabulary)
        self.reset()

    def reset(self) -> None:
        """See `PeerMatcher`."""
        self._matcher = Matcher(self._grammar, self._vocabulary)
        self.accept = self._matcher.accept

    def fill_mask(self) -> None:
        """See `PeerMatcher`."""
        self._matcher.fill_bitmask(self.mask)

    def is_accepting(self) -> bool:
        """See `PeerMatcher`."""
        return self._matcher.is_accepting


class OwnAdapter:
    """The `Adapter` of Turnstile, with its kernels loaded."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        warm(wait=True)
        self._vocabulary = vocabulary
        self.options = CompileOptions()
        _ = vocabulary.trie  # built here, as in the constructors of the other adapters

    def compile(self, notation: str, source: str) -> OwnMatcher:
        """See `Adapter`."""
        return OwnMatcher(compile_grammar(notation, source, self.options), self._vocabulary)

    def forget(self) -> None:
        """See `Adapter`."""
        clear_caches()


PEER = Peer(OWN, "token-turnstile", OwnAdapter)
