"""Vocabularies: the bytes of tokens from any tokenizer, the byte trie for masks, and the display form of tokens.

Modules that need numpy are imported on first use: the window shows tokens but holds no vocabulary.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from engine.vocabulary.audit import Audit, audit
from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.visible import visible

if TYPE_CHECKING:
    from engine.vocabulary.trie import Trie
    from engine.vocabulary.vocabulary import Vocabulary

_MODULE_OF = {"Trie": "engine.vocabulary.trie", "Vocabulary": "engine.vocabulary.vocabulary"}

__all__ = ["Audit", "Trie", "Vocabulary", "VocabularyError", "audit", "visible"]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
