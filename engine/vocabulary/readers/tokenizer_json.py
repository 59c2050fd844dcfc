"""Reader of Hugging Face's `tokenizer.json`: a model's table of pieces, a decoder, and added tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.vocabulary.readers.document import Part, by_id, encoded, highest_id
from engine.vocabulary.readers.token_bytes import is_byte_level, token_bytes_reader
from engine.vocabulary.readers.token_table import TokenTable


def read_tokenizer_json(document: Mapping[str, Any], file: str = "this tokenizer.json") -> TokenTable:
    """Read a parsed `tokenizer.json`.

    Args:
        document: the file, as parsed by the `json` module.
        file: the name of the file, for messages.

    Raises:
        VocabularyError: the tokenizer has no bytes per token, or the file is malformed.
    """
    root = Part(document, file)
    pieces, unknown = _pieces(root.get("model"))
    return _table(root, pieces, unknown)


def read_names(document: Part) -> TokenTable:
    """Return the ids and names of a `tokenizer.json` as a table, with the names of tokens instead of their bytes.

    Raises:
        VocabularyError: the file is malformed.
    """
    pieces, _ = _pieces(document.get("model"))
    special = _added_tokens(document, len(pieces))
    texts = {index: encoded(piece) for index, piece in pieces.items() if index not in special}
    return TokenTable(texts, {index: content for index, (content, _) in special.items()})


def _pieces(model: Part) -> tuple[dict[int, str], int | None]:
    """Return the pieces by id, and the id of the unknown token."""
    vocab = model.get("vocab")
    if isinstance(vocab.value, list):  # Unigram: [piece, score] in the order of ids
        pieces = {index: next(pair.items(), pair).text() for index, pair in enumerate(vocab.items())}
        unknown = model.get("unk_id")
        if unknown.value is not None and unknown.count() not in pieces:
            raise unknown.refused("the id of a piece")
        return pieces, unknown.value
    ids = dict(vocab.value) if isinstance(vocab.value, dict) else {name: part.value for name, part in vocab.members()}
    pieces = {}
    if set(map(type, ids.values())) <= {int}:
        pieces = {index: piece for piece, index in ids.items()}
    if len(pieces) < len(ids) or min(pieces, default=0) < 0 or max(pieces, default=0) > highest_id(len(ids)):
        # Parts are created only to report an error, since a vocabulary has a hundred thousand pieces.
        pieces = by_id((part, part.id_among(len(ids)), piece) for piece, part in vocab.members())
    named = model.get("unk_token")
    return pieces, None if named.value is None else ids.get(named.text())


def _table(document: Part, pieces: Mapping[int, str], unknown: int | None) -> TokenTable:
    spell, literal = token_bytes_reader(document), is_byte_level(document)
    texts = {index: spell(piece) for index, piece in pieces.items()}
    special: dict[int, str] = {}
    for index, (content, is_special) in _added_tokens(document, len(pieces)).items():
        if is_special:
            special[index] = content
        elif pieces.get(index) != content:
            # Added tokens bypass the byte-level alphabet: an added "é" is that character, not the byte 0xE9.
            texts[index] = encoded(content) if literal else spell(content)
    if unknown is not None:
        special.setdefault(unknown, pieces[unknown])
    for index in special:
        texts.pop(index, None)
    return TokenTable(texts, special)


def _added_tokens(document: Part, count: int) -> dict[int, tuple[str, bool]]:
    """Return the added tokens: content, and whether they are special."""
    entries = list(document.get("added_tokens").optional_items())
    ids = [added.get("id") for added in entries]
    count += len(entries)
    names = by_id(
        (part, part.id_among(count), added.get("content").text()) for part, added in zip(ids, entries, strict=True)
    )
    flags = {part.count(): added.get("special").flag() for part, added in zip(ids, entries, strict=True)}
    return {index: (content, flags[index]) for index, content in names.items()}
