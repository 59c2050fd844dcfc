"""The error of this room."""

from __future__ import annotations

from engine.source import EngineError


class VocabularyError(EngineError):
    """A tokenizer or a token list that cannot be read; the message says what failed and what to do."""
