"""Tokenizers on disk: what a file is, told by its content, and what the files beside it say of the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.document import Part, encoded, read_json
from engine.vocabulary.readers.pieces import read_model
from engine.vocabulary.readers.ranks import RANKS_LINE, read_ranks, read_tekken
from engine.vocabulary.readers.spelling import spell_byte_level
from engine.vocabulary.readers.table import TokenTable
from engine.vocabulary.readers.tokenizer_json import read_tokenizer_json

_NAMES = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json")
_MOST_DIGITS: Final = 12  # of an id
_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_KNOWN = "tokenizer.json, tekken.json, tiktoken ranks (*.tiktoken) and sentencepiece models (*.model)"


def read_path(path: Path) -> TokenTable:
    """Read a tokenizer file, or the first that a folder holds.

    Raises:
        VocabularyError: nothing is there, or it is no tokenizer.
    """
    file = _find(path) if path.is_dir() else path
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise VocabularyError(f"there is no file or folder {path}; give the path of a tokenizer") from error
    except OSError as error:
        raise VocabularyError(f"{path} cannot be read: {error.strerror}") from error
    return _with_neighbours(_read_file(file, content), file.parent)


def _find(folder: Path) -> Path:
    candidates = [folder / name for name in _NAMES] + sorted(folder.glob("*.tiktoken"))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise VocabularyError(f"the folder {folder} holds no tokenizer; Turnstile reads {_KNOWN}")


def _read_file(file: Path, content: bytes) -> TokenTable:
    if content.startswith(b"GGUF"):
        raise VocabularyError(f"{file} is a GGUF model; open it as a model, which brings its tokenizer")
    if content.lstrip().startswith(b"{"):
        return _read_json(file, content)
    if RANKS_LINE.match(content):
        return read_ranks(content)
    return read_model(file)


def _read_json(file: Path, content: bytes) -> TokenTable:
    document = read_json(content, str(file)).value
    match document:
        case {"model": {"vocab": _}}:
            return read_tokenizer_json(document, str(file))
        case {"config": {"default_vocab_size": _}, "vocab": _}:
            return read_tekken(document, str(file))
    if document and all(type(index) is int and index >= 0 for index in document.values()):
        return _read_pieces(file, document)
    raise VocabularyError(f"{file} is JSON, but no tokenizer; Turnstile reads {_KNOWN}")


def _read_pieces(file: Path, pieces: Mapping[str, int]) -> TokenTable:
    """A bare table of pieces, as GPT-2's `vocab.json`; only byte-level ones say what bytes their pieces are."""
    if "Ġ" not in pieces or any("▁" in piece or piece.endswith("</w>") for piece in pieces):
        raise VocabularyError(f"{file} does not say how its pieces spell bytes; give the folder's tokenizer.json")
    return TokenTable({index: spell_byte_level(piece) for piece, index in pieces.items()})


def _with_neighbours(table: TokenTable, folder: Path) -> TokenTable:
    """Add what a model folder says: special tokens that only its configuration names, and the ends."""
    tokenizer = _settings(folder / "tokenizer_config.json")
    named = (tokenizer, _settings(folder / "special_tokens_map.json"))
    added = Part(tokenizer, str(folder / "tokenizer_config.json")).get("added_tokens_decoder")
    table = _with_added(table, added)
    table = _with_roles(table, {_name(settings.get(role)) for settings in named for role in _ROLES})
    ends = {index for settings in named for index in table.id_of(_name(settings.get("eos_token")))}
    ends |= _ids(_settings(folder / "generation_config.json").get("eos_token_id"))
    if not ends:
        model = _settings(folder / "config.json")
        ends = _ids(model.get("eos_token_id")) or _ids(_mapping(model.get("text_config")).get("eos_token_id"))
    return (table.ending_with(ends) if ends else table).with_usual_ends()


def _with_added(table: TokenTable, added: Part) -> TokenTable:
    if added.value is None:
        return table
    texts, special = dict(table.texts), dict(table.special)
    for key, entry in added.members():
        if not (key.isascii() and key.isdigit()) or len(key) > _MOST_DIGITS:
            raise entry.refused("under an id, a whole number that is not negative,")
        index, content = int(key), _name(entry.value)
        if content and _mapping(entry.value).get("special"):
            texts.pop(index, None)
            special[index] = content
        elif content and index not in special:
            texts.setdefault(index, encoded(content))
    return TokenTable(texts, special, table.eos_ids)


def _with_roles(table: TokenTable, names: set[str | None]) -> TokenTable:
    """Make special what a configuration gives a role, as transformers does."""
    special = {index: name for name in names if name for index in table.id_of(name)}
    texts = {index: text for index, text in table.texts.items() if index not in special}
    return TokenTable(texts, {**table.special, **special}, table.eos_ids)


def _settings(file: Path) -> Mapping[str, Any]:
    """A JSON object beside a tokenizer; empty where there is none, since no such file is required."""
    try:
        return _mapping(json.loads(file.read_bytes()))
    except (OSError, ValueError):
        return {}
    except RecursionError as error:
        raise VocabularyError(f"{file} is malformed: its values are nested too deep") from error


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _name(token: object) -> str | None:
    """A token's name, which transformers writes as a string or as an object."""
    name = _mapping(token).get("content") if isinstance(token, dict) else token
    return name if isinstance(name, str) else None


def _ids(value: object) -> set[int]:
    """One id, a list of ids, or none."""
    values: Iterable[object] = value if isinstance(value, list) else [value]
    return {index for index in values if isinstance(index, int) and not isinstance(index, bool)}
