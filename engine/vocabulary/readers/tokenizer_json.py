"""Hugging Face's `tokenizer.json`: a model's table of pieces, a decoder, and added tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.vocabulary.readers.document import Part, encoded
from engine.vocabulary.readers.spelling import is_byte_level, spelling
from engine.vocabulary.readers.table import TokenTable


def read_tokenizer_json(document: Mapping[str, Any], file: str = "this tokenizer.json") -> TokenTable:
    """Read a parsed `tokenizer.json`.

    Args:
        document: what the `json` module reads.
        file: what errors call the file.

    Raises:
        VocabularyError: the kind of tokenizer has no bytes per token, or the file is malformed.
    """
    whole = Part(document, file)
    pieces, unknown = _pieces(whole.get("model"))
    return _table(whole, pieces, unknown)


def _pieces(model: Part) -> tuple[dict[int, str], int | None]:
    """The pieces by id, and the id of the unknown token."""
    vocab = model.get("vocab")
    if isinstance(vocab.value, list):  # Unigram: [piece, score] in the order of ids
        pieces = {index: next(pair.items(), pair).text() for index, pair in enumerate(vocab.items())}
        unknown = model.get("unk_id")
        if unknown.value is not None and unknown.count() not in pieces:
            raise unknown.refused("the id of a piece")
        return pieces, unknown.value
    ids = dict(vocab.value) if isinstance(vocab.value, dict) else {name: part.value for name, part in vocab.members()}
    if set(map(type, ids.values())) - {int} or min(ids.values(), default=0) < 0:
        for _, part in vocab.members():  # only now, since a vocabulary has a hundred thousand of them
            part.count()
    named = model.get("unk_token").value
    return {index: piece for piece, index in ids.items()}, ids.get(named) if isinstance(named, str) else None


def _table(document: Part, pieces: Mapping[int, str], unknown: int | None) -> TokenTable:
    spell, literal = spelling(document), is_byte_level(document)
    texts = {index: spell(piece) for index, piece in pieces.items()}
    special: dict[int, str] = {}
    for added in document.get("added_tokens").optional_items():
        index, content = added.get("id").count(), added.get("content").text()
        if added.get("special").value:
            special[index] = content
        elif pieces.get(index) != content:
            # Its text is cut out before any alphabet is applied, so an added "é" is that character and no byte 0xE9.
            texts[index] = encoded(content) if literal else spell(content)
    if unknown is not None:
        special.setdefault(unknown, pieces[unknown])
    for index in special:
        texts.pop(index, None)
    return TokenTable(texts, special)
