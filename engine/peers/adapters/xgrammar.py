"""An adapter of xgrammar (mlc-ai, Apache-2.0), configured as vLLM and SGLang use it.

By default it closes objects that a schema leaves open (`strict_mode`). So it is
measured twice: with its defaults, and with open objects as in the standard (`xgrammar_open`).
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from engine.grammar.options import CompileOptions
from engine.peers.adapter import Peer, UnsupportedNotationError, eos_id_of
from engine.vocabulary import Vocabulary


class XgrammarMatcher:
    """A `PeerMatcher` of xgrammar."""

    def __init__(self, matcher: Any, bitmask: Any) -> None:
        self._matcher, self._bitmask = matcher, bitmask
        self.mask = bitmask.numpy()[0]
        self.accept = matcher.accept_token

    def reset(self) -> None:
        """See `PeerMatcher`."""
        self._matcher.reset()

    def fill_mask(self) -> None:
        """See `PeerMatcher`."""
        self._matcher.fill_next_token_bitmask(self._bitmask)

    def is_accepting(self) -> bool:
        """See `PeerMatcher`."""
        return bool(self._matcher.is_completed())


class XgrammarAdapter:
    """The `Adapter` of xgrammar with its defaults."""

    strict = True

    def __init__(self, vocabulary: Vocabulary) -> None:
        library = self._library = import_module("xgrammar")
        tokens = [token or b"" for token in vocabulary.tokens]
        info = library.TokenizerInfo(
            tokens, library.VocabType.RAW, vocab_size=vocabulary.size, stop_token_ids=[eos_id_of(vocabulary)]
        )
        self._compiler = library.GrammarCompiler(info, max_threads=1)
        self._bitmask = library.allocate_token_bitmask(1, vocabulary.size)

    def compile(self, notation: str, source: str) -> XgrammarMatcher:
        """See `Adapter`."""
        readers = {
            "json_schema": partial(self._compiler.compile_json_schema, strict_mode=self.strict),
            "regex": self._compiler.compile_regex,
            "gbnf": self._compiler.compile_grammar,
        }
        if notation not in readers:
            raise UnsupportedNotationError(notation)
        return XgrammarMatcher(self._library.GrammarMatcher(readers[notation](source)), self._bitmask)

    def forget(self) -> None:
        """See `Adapter`."""
        self._compiler.clear_cache()


PEER = Peer("xgrammar", "xgrammar", XgrammarAdapter, options=CompileOptions(whitespace="any"))
