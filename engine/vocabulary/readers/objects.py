"""Reader of tokenizer objects of other libraries, which are recognised by their attributes, without imports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.files import read_path
from engine.vocabulary.readers.pieces import read_pieces, read_processor
from engine.vocabulary.readers.ranks import read_encoding
from engine.vocabulary.readers.token_table import TokenTable, check_highest
from engine.vocabulary.readers.tokenizer_json import decode_byte_level, read_tokenizer_json


def read_object(tokenizer: Any) -> TokenTable:
    """Read a tokenizer object of transformers, tokenizers, tiktoken, sentencepiece or mistral-common.

    Raises:
        VocabularyError: the object is none of them, or has no bytes per token.
    """
    if hasattr(tokenizer, "backend_tokenizer"):  # transformers, over the tokenizers library
        return _with_eos_of(tokenizer, _read_backend(tokenizer.backend_tokenizer))
    if hasattr(tokenizer, "sp_model"):  # transformers, over sentencepiece
        return _with_eos_of(tokenizer, _read_slow_pieces(tokenizer))
    if hasattr(tokenizer, "byte_decoder"):  # transformers, byte-level in Python
        return _with_eos_of(tokenizer, _read_slow_bytes(tokenizer))
    if hasattr(tokenizer, "decode_single_token_bytes"):  # tiktoken
        return read_encoding(tokenizer)
    if hasattr(tokenizer, "IdToPiece"):  # sentencepiece
        return read_processor(tokenizer)
    if hasattr(tokenizer, "to_str") and hasattr(tokenizer, "get_vocab"):  # tokenizers
        return _read_backend(tokenizer).with_common_eos_ids()
    inner = getattr(getattr(tokenizer, "tokenizer", tokenizer), "instruct_tokenizer", tokenizer)
    path = getattr(getattr(inner, "tokenizer", inner), "file_path", None)
    if isinstance(path, Path):  # mistral-common, also inside transformers
        return read_path(path)
    raise VocabularyError("errors.vocabulary.unknown_object", type=type(tokenizer).__name__)


def _read_backend(backend: Any) -> TokenTable:
    ids = backend.get_vocab().values()
    check_highest(max(ids, default=0), len(ids))  # `to_str` needs time and memory for every id without a token
    return read_tokenizer_json(json.loads(backend.to_str()))


def _read_slow_pieces(tokenizer: Any) -> TokenTable:
    """Read pieces under the ids of the tokenizer, which often differ from those of its sentencepiece model."""
    added = _added_tokens(tokenizer)
    pieces = {index: piece for piece, index in tokenizer.get_vocab().items() if index not in added}
    return _with_added_tokens(read_pieces(pieces, tokenizer.sp_model), added)


def _read_slow_bytes(tokenizer: Any) -> TokenTable:
    added = _added_tokens(tokenizer)
    texts = {index: decode_byte_level(piece) for piece, index in tokenizer.get_vocab().items() if index not in added}
    return _with_added_tokens(TokenTable(texts), added)


def _added_tokens(tokenizer: Any) -> Mapping[int, Any]:
    return dict(tokenizer.added_tokens_decoder)


def _with_added_tokens(table: TokenTable, added: Mapping[int, Any]) -> TokenTable:
    texts, special = dict(table.texts), dict(table.special)
    for index, token in added.items():
        if token.special:
            special[index] = token.content
        else:
            texts[index] = token.content.encode()
    return TokenTable(texts, special)


def _with_eos_of(tokenizer: Any, table: TokenTable) -> TokenTable:
    eos = tokenizer.eos_token_id
    eos_ids = eos if isinstance(eos, list | tuple | set | frozenset) else [eos]
    return table.with_eos_ids(token_id for token_id in eos_ids if type(token_id) is int).with_common_eos_ids()
