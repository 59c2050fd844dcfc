"""The exception of this package."""

from __future__ import annotations

from engine.source import EngineError


class VocabularyError(EngineError):
    """A tokenizer or a token list cannot be read; the message says what failed and what to do."""
