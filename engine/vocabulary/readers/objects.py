"""Tokenizer objects of other libraries, known by what they offer, so that none of those libraries is imported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.files import read_path
from engine.vocabulary.readers.pieces import read_pieces, read_processor
from engine.vocabulary.readers.ranks import read_encoding
from engine.vocabulary.readers.token_bytes import spell_byte_level
from engine.vocabulary.readers.token_table import TokenTable, check_highest
from engine.vocabulary.readers.tokenizer_json import read_tokenizer_json


def read_object(tokenizer: Any) -> TokenTable:
    """Read a tokenizer object of transformers, tokenizers, tiktoken, sentencepiece or mistral-common.

    Raises:
        VocabularyError: it is none of them, or has no bytes per token.
    """
    if hasattr(tokenizer, "backend_tokenizer"):  # transformers, over the tokenizers library
        return _ending_as(tokenizer, _read_backend(tokenizer.backend_tokenizer))
    if hasattr(tokenizer, "sp_model"):  # transformers, over sentencepiece
        return _ending_as(tokenizer, _read_slow_pieces(tokenizer))
    if hasattr(tokenizer, "byte_decoder"):  # transformers, byte-level in Python
        return _ending_as(tokenizer, _read_slow_bytes(tokenizer))
    if hasattr(tokenizer, "decode_single_token_bytes"):  # tiktoken
        return read_encoding(tokenizer)
    if hasattr(tokenizer, "IdToPiece"):  # sentencepiece
        return read_processor(tokenizer)
    if hasattr(tokenizer, "to_str") and hasattr(tokenizer, "get_vocab"):  # tokenizers
        return _read_backend(tokenizer).with_usual_ends()
    inner = getattr(getattr(tokenizer, "tokenizer", tokenizer), "instruct_tokenizer", tokenizer)
    path = getattr(getattr(inner, "tokenizer", inner), "file_path", None)
    if isinstance(path, Path):  # mistral-common, also inside transformers
        return read_path(path)
    raise VocabularyError(
        f"a {type(tokenizer).__name__} is no tokenizer that Turnstile can read: it reads those of transformers,"
        " tokenizers, tiktoken, sentencepiece and mistral-common, and the files that they are saved in"
    )


def _read_backend(backend: Any) -> TokenTable:
    ids = backend.get_vocab().values()
    check_highest(max(ids, default=0), len(ids))  # since `to_str` takes time and memory for every id that has no token
    return read_tokenizer_json(json.loads(backend.to_str()))


def _read_slow_pieces(tokenizer: Any) -> TokenTable:
    """The ids are the tokenizer's own, which are often shifted against those of its sentencepiece model."""
    added = _added(tokenizer)
    pieces = {index: piece for piece, index in tokenizer.get_vocab().items() if index not in added}
    return _with_added(read_pieces(pieces, tokenizer.sp_model), added)


def _read_slow_bytes(tokenizer: Any) -> TokenTable:
    added = _added(tokenizer)
    texts = {index: spell_byte_level(piece) for piece, index in tokenizer.get_vocab().items() if index not in added}
    return _with_added(TokenTable(texts), added)


def _added(tokenizer: Any) -> Mapping[int, Any]:
    return dict(tokenizer.added_tokens_decoder)


def _with_added(table: TokenTable, added: Mapping[int, Any]) -> TokenTable:
    texts, special = dict(table.texts), dict(table.special)
    for index, token in added.items():
        if token.special:
            special[index] = token.content
        else:
            texts[index] = token.content.encode()
    return TokenTable(texts, special)


def _ending_as(tokenizer: Any, table: TokenTable) -> TokenTable:
    end = tokenizer.eos_token_id
    ends = end if isinstance(end, list | tuple | set | frozenset) else [end]
    return table.ending_with(one for one in ends if type(one) is int).with_usual_ends()
