"""Readers of tokenizers, which derive token bytes from the tokenizer's own tables.

Rejected: decoding every id with the tokenizer itself. It drops leading spaces,
replaces incomplete characters, and differs between versions.
"""

from __future__ import annotations

import os
from pathlib import Path

from engine.vocabulary.readers.files import EndIds, end_ids, logits_width, read_path
from engine.vocabulary.readers.files import check_folder as check_tokenizer_folder
from engine.vocabulary.readers.objects import read_object
from engine.vocabulary.readers.token_table import TokenTable

__all__ = ["EndIds", "TokenTable", "check_tokenizer_folder", "end_ids", "logits_width", "read_tokenizer"]


def read_tokenizer(tokenizer: object) -> TokenTable:
    """Read a tokenizer from a path (a string or a path object) or from an object.

    Raises:
        VocabularyError: the tokenizer is unknown, broken, or has no bytes per token.
    """
    if isinstance(tokenizer, str | os.PathLike):
        return read_path(Path(tokenizer).expanduser())
    return read_object(tokenizer)
