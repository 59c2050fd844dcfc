"""xgrammar (mlc-ai, Apache-2.0), as vLLM and SGLang use it.

Its own default closes objects that a schema leaves open (`strict_mode`). So it
runs twice: as it comes, and open, as the standard says.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from engine.peers.adapter import UnsupportedNotationError, end_of
from engine.vocabulary import Vocabulary


class XgrammarMatcher:
    """One grammar."""

    def __init__(self, matcher: Any, bitmask: Any) -> None:
        self._matcher, self._bitmask = matcher, bitmask
        self.mask = bitmask.numpy()[0]
        self.accept = matcher.accept_token

    def reset(self) -> None:
        """As `PeerMatcher`."""
        self._matcher.reset()

    def fill_mask(self) -> None:
        """As `PeerMatcher`."""
        self._matcher.fill_next_token_bitmask(self._bitmask)

    def is_accepting(self) -> bool:
        """As `PeerMatcher`."""
        return bool(self._matcher.is_completed())


class XgrammarAdapter:
    """The engine over a vocabulary, as it comes."""

    strict = True

    def __init__(self, vocabulary: Vocabulary) -> None:
        library = self._library = import_module("xgrammar")
        tokens = [token or b"" for token in vocabulary.tokens]
        info = library.TokenizerInfo(
            tokens, library.VocabType.RAW, vocab_size=vocabulary.size, stop_token_ids=[end_of(vocabulary)]
        )
        self._compiler = library.GrammarCompiler(info, max_threads=1)
        self._bitmask = library.allocate_token_bitmask(1, vocabulary.size)

    def compile(self, notation: str, source: str) -> XgrammarMatcher:
        """As `Adapter`."""
        match notation:
            case "json_schema":
                compiled = self._compiler.compile_json_schema(source, strict_mode=self.strict)
            case "regex":
                compiled = self._compiler.compile_regex(source)
            case "gbnf":
                compiled = self._compiler.compile_grammar(source)
            case _:
                raise UnsupportedNotationError(notation)
        return XgrammarMatcher(self._library.GrammarMatcher(compiled), self._bitmask)

    def forget(self) -> None:
        """As `Adapter`."""
        self._compiler.clear_cache()


class OpenXgrammarAdapter(XgrammarAdapter):
    """The engine with objects open, as the standard says."""

    strict = False
