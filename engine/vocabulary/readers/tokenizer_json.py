"""Hugging Face's `tokenizer.json`: a model's table of pieces, a decoder, and added tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.spelling import is_byte_level, spelling
from engine.vocabulary.readers.table import TokenTable


def read_tokenizer_json(document: Mapping[str, Any]) -> TokenTable:
    """Read a parsed `tokenizer.json`.

    Raises:
        VocabularyError: the kind of tokenizer has no bytes per token, or the file is malformed.
    """
    model = document["model"]
    try:
        pieces, unknown = _pieces(model)
        return _table(document, pieces, unknown)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VocabularyError(f"this tokenizer.json is malformed: {type(error).__name__} at {error}") from error


def _pieces(model: Mapping[str, Any]) -> tuple[dict[int, str], int | None]:
    """The pieces by id, and the id of the unknown token."""
    vocab = model["vocab"]
    if isinstance(vocab, list):  # Unigram: [piece, score] in the order of ids
        return {index: piece for index, (piece, _) in enumerate(vocab)}, model.get("unk_id")
    return {index: piece for piece, index in vocab.items()}, vocab.get(model.get("unk_token"))


def _table(document: Mapping[str, Any], pieces: Mapping[int, str], unknown: int | None) -> TokenTable:
    spell, literal = spelling(document), is_byte_level(document)
    texts = {index: spell(piece) for index, piece in pieces.items()}
    special: dict[int, str] = {}
    for added in document.get("added_tokens") or ():
        index, content = added["id"], added["content"]
        if added.get("special"):
            special[index] = content
        elif pieces.get(index) != content:
            # Its text is cut out before any alphabet is applied, so an added "é" is that character and no byte 0xE9.
            texts[index] = content.encode() if literal else spell(content)
    if unknown is not None:
        special.setdefault(unknown, pieces[unknown])
    for index in special:
        texts.pop(index, None)
    return TokenTable(texts, special)
