"""Adapter of outlines-core (dottxt-ai, Apache-2.0), which indexes the whole automaton at compile time."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from engine.grammar.options import CompileOptions
from engine.peers.adapter import Peer, UnsupportedNotationError, allows, empty_mask, eos_id_of
from engine.vocabulary import Vocabulary

_WORD_BYTES = 4


class OutlinesMatcher:
    """A `PeerMatcher` of outlines-core."""

    def __init__(self, guide: Any, index: Any, vocabulary: Vocabulary) -> None:
        self._guide, self._index = guide, index
        self.mask = empty_mask(vocabulary)
        self._address, self._words = self.mask.ctypes.data, self.mask.size
        self.reset()

    def reset(self) -> None:
        """See `PeerMatcher`."""
        self._state = self._guide(self._index)

    def fill_mask(self) -> None:
        """See `PeerMatcher`."""
        self._state.write_mask_into(self._address, self._words, _WORD_BYTES)

    def accept(self, token_id: int) -> bool:
        """See `PeerMatcher`. A token that the mask excludes is not passed on, since it would raise an error."""
        if not allows(self.mask, token_id):
            return False
        self._state.advance(token_id, return_tokens=False)
        return True

    def is_accepting(self) -> bool:
        """See `PeerMatcher`."""
        return bool(self._state.is_finished())


class OutlinesAdapter:
    """The `Adapter` of outlines-core."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._library = import_module("outlines_core")
        self._vocabulary = vocabulary
        ids: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                ids.setdefault(token, []).append(token_id)
        self._peer_vocabulary = self._library.Vocabulary(eos_id_of(vocabulary), ids)

    def compile(self, notation: str, source: str) -> OutlinesMatcher:
        """See `Adapter`."""
        readers: dict[str, Callable[[str], str]] = {
            "json_schema": lambda schema: import_module("outlines_core.json_schema").build_regex_from_schema(schema),
            "regex": str,
        }
        if notation not in readers:
            raise UnsupportedNotationError(notation)
        index = self._library.Index(readers[notation](source), self._peer_vocabulary)
        return OutlinesMatcher(self._library.Guide, index, self._vocabulary)

    def forget(self) -> None:
        """Do nothing, since outlines-core caches no grammar."""


PEER = Peer(
    "outlines-core",
    "outlines-core",
    OutlinesAdapter,
    notations=("json_schema", "regex"),
    options=CompileOptions(whitespace="flexible"),
)
