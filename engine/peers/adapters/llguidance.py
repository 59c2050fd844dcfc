"""Adapter of llguidance (guidance-ai, MIT), configured as guidance and vLLM use it.

Callers choose its token slices; the adapter uses those that llguidance recommends
for any grammar.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from engine.grammar.options import CompileOptions
from engine.peers.adapter import GreedyTokenizer, Peer, UnsupportedNotationError, allows, empty_mask, eos_id_of
from engine.vocabulary import Vocabulary


class _Tokenizer:
    """The tokenizer interface that llguidance requires, with which it tokenises forced bytes."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.eos_token_id = eos_id_of(vocabulary)
        self.bos_token_id = None
        self.tokens: Sequence[bytes] = [token or b"" for token in vocabulary.tokens]
        self.special_token_ids = sorted({*vocabulary.special, *vocabulary.eos_ids})
        self._tokenizer = GreedyTokenizer(vocabulary)

    def __call__(self, text: bytes | str) -> list[int]:
        return self._tokenizer.spell(text if isinstance(text, bytes) else text.encode()) or []


class LlguidanceMatcher:
    """A `PeerMatcher` of llguidance."""

    def __init__(self, start: Any, vocabulary: Vocabulary) -> None:
        self._start = start
        self.mask = empty_mask(vocabulary)
        self._address, self._bytes = self.mask.ctypes.data, self.mask.nbytes
        self.reset()

    def reset(self) -> None:
        """See `PeerMatcher`."""
        self._matcher = self._start.deep_copy()

    def fill_mask(self) -> None:
        """See `PeerMatcher`."""
        self._matcher.unsafe_compute_mask_ptr(self._address, self._bytes)

    def accept(self, token_id: int) -> bool:
        """See `PeerMatcher`. A token that the mask excludes is not passed on, since it would cause an error state."""
        if allows(self.mask, token_id):
            return bool(self._matcher.consume_token(token_id))
        if self._matcher.is_error():
            raise RuntimeError(self._matcher.get_error())
        return False

    def is_accepting(self) -> bool:
        """See `PeerMatcher`."""
        return bool(self._matcher.is_accepting())


class LlguidanceAdapter:
    """The `Adapter` of llguidance."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.library = import_module("llguidance")
        self._vocabulary = vocabulary
        wrapper = self.library.TokenizerWrapper(_Tokenizer(vocabulary))
        self.tokenizer = self.library.LLTokenizer(wrapper, n_vocab=vocabulary.size, eos_token=eos_id_of(vocabulary))

    def compile(self, notation: str, source: str) -> LlguidanceMatcher:
        """See `Adapter`."""
        matcher = self.library.LLMatcher(self.tokenizer, self._grammar(notation, source))
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return LlguidanceMatcher(matcher, self._vocabulary)

    def forget(self) -> None:
        """Do nothing, since llguidance caches no grammar."""

    def _grammar(self, notation: str, source: str) -> str:
        readers: dict[str, Callable[[str], object]] = {
            "json_schema": lambda schema: json.dumps({"grammars": [{"json_schema": json.loads(schema)}]}),
            "regex": self.library.LLMatcher.grammar_from_regex,
            "gbnf": lambda rules: import_module("llguidance.gbnf_to_lark").any_to_lark(rules),
        }
        if notation not in readers:
            raise UnsupportedNotationError(notation)
        return str(readers[notation](source))


PEER = Peer("llguidance", "llguidance", LlguidanceAdapter, options=CompileOptions(whitespace="any"))
