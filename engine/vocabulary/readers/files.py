"""Reader of tokenizer files, whose format it detects by content, and of the configuration files beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.document import Part, by_id, encoded, highest_id, read_bytes, read_json
from engine.vocabulary.readers.pieces import read_model
from engine.vocabulary.readers.ranks import RANKS_LINE, read_ranks, read_tekken
from engine.vocabulary.readers.token_table import TokenTable
from engine.vocabulary.readers.tokenizer_json import decode_byte_level, read_names, read_tokenizer_json

_NAMES = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json")
_MAX_ID_DIGITS: Final = 12
_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def read_path(path: Path) -> TokenTable:
    """Read a tokenizer file, or the first one in a folder.

    Raises:
        VocabularyError: there is none, or a file is damaged; the message names the file.
    """
    file = _find(path) if path.is_dir() else path
    try:
        table = _with_configuration(_read_file(file), file.parent)
        table.check()
    except VocabularyError as error:
        if str(file.parent) in str(error):
            raise
        raise VocabularyError("errors.vocabulary.in_file", file=str(file), reason=str(error)) from error
    if not table.texts and not table.special:
        raise VocabularyError("errors.vocabulary.no_tokens", file=str(file))
    return table


def check_folder(folder: Path) -> None:
    """Check the JSON files of a model folder before another library reads them.

    Raises:
        VocabularyError: a file is damaged; the message names the file and the JSON Pointer.
    """
    file = folder / _NAMES[0]
    table = TokenTable({})
    if file.is_file():
        try:
            document = read_json(read_bytes(file), str(file))
        except OSError as error:
            raise _unreadable(file, error) from error
        table = read_names(document)
    _with_configuration(table, folder)


def _find(folder: Path) -> Path:
    candidates = [folder / name for name in _NAMES] + sorted(folder.glob("*.tiktoken"))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise VocabularyError("errors.vocabulary.no_tokenizer", folder=str(folder))


def _read_file(file: Path) -> TokenTable:
    try:
        content = read_bytes(file)
    except FileNotFoundError as error:
        raise VocabularyError("errors.vocabulary.missing", file=str(file)) from error
    except OSError as error:
        raise _unreadable(file, error) from error
    if content.startswith(b"GGUF"):
        raise VocabularyError("errors.vocabulary.gguf", file=str(file))
    if not content.strip():
        raise VocabularyError("errors.vocabulary.empty_file", file=str(file))
    if content.lstrip().startswith(b"{"):
        return _read_json(file, content)
    if RANKS_LINE.match(content):
        return read_ranks(content, str(file))
    return read_model(file)


def _read_json(file: Path, content: bytes) -> TokenTable:
    document = read_json(content, str(file))
    match document.value:
        case {"model": {"vocab": _}}:
            return read_tokenizer_json(document.value, str(file))
        case {"config": {"default_vocab_size": _}, "vocab": _}:
            return read_tekken(document.value, str(file))
        case {"model": _}:
            raise document.get("model").refused("an object with the member “vocab”")
    if document.value and any(type(index) is int for index in document.value.values()):
        return _read_pieces(file, document)
    raise VocabularyError("errors.vocabulary.other_json", file=str(file))


def _read_pieces(file: Path, document: Part) -> TokenTable:
    """Read a bare table of pieces such as GPT-2's `vocab.json`; the bytes are defined only for byte-level pieces."""
    pieces = document.value
    if "Ġ" not in pieces or any("▁" in piece or piece.endswith("</w>") for piece in pieces):
        raise VocabularyError("errors.vocabulary.bare_pieces", file=str(file))
    named = by_id((part, part.id_among(len(pieces)), piece) for piece, part in document.members())
    return TokenTable({index: decode_byte_level(piece) for index, piece in named.items()})


def _unreadable(file: Path, error: OSError) -> VocabularyError:
    return VocabularyError("errors.unreadable", file=str(file), reason=error.strerror or str(error))


def _with_configuration(table: TokenTable, folder: Path) -> TokenTable:
    """Add the special tokens and EOS ids that the configuration files of a model folder name."""
    tokenizer = _read_settings(folder / "tokenizer_config.json")
    named = (tokenizer, _read_settings(folder / "special_tokens_map.json"))
    table = _with_added_tokens(table, tokenizer.get("added_tokens_decoder"))
    table = _with_roles(table, {_name(settings.get(role)) for settings in named for role in _ROLES})
    ends = {index for settings in named for index in table.id_of(_name(settings.get("eos_token")))}
    ends |= _ids(_read_settings(folder / "generation_config.json").get("eos_token_id"))
    if not ends:
        model = _read_settings(folder / "config.json")
        inner = model.get("text_config")
        ends = _ids(model.get("eos_token_id"))
        if not ends and inner.value is not None:
            ends = _ids(inner.get("eos_token_id"))
    return (table.with_eos_ids(ends) if ends else table).with_common_eos_ids()


def _with_added_tokens(table: TokenTable, added: Part) -> TokenTable:
    if added.value is None:
        return table
    texts, special = dict(table.texts), dict(table.special)
    highest = highest_id(len(texts) + len(special))
    for key, entry in added.members():
        if not (key.isascii() and key.isdigit()) or len(key) > _MAX_ID_DIGITS or int(key) > highest:
            raise entry.refused(f"under an id, a whole number from 0 to {highest:,},")
        index, content = int(key), _name(entry)
        if content and isinstance(entry.value, dict) and entry.get("special").flag():
            texts.pop(index, None)
            special[index] = content
        elif content and index not in special:
            texts.setdefault(index, encoded(content))
    return TokenTable(texts, special, table.eos_ids)


def _with_roles(table: TokenTable, names: set[str | None]) -> TokenTable:
    """Make the tokens special to which a configuration gives a role, as transformers does."""
    special = {index: name for name in names if name for index in table.id_of(name)}
    texts = {index: text for index, text in table.texts.items() if index not in special}
    return TokenTable(texts, {**table.special, **special}, table.eos_ids)


def _read_settings(file: Path) -> Part:
    """Read a JSON object from a file beside a tokenizer; an empty object if the file does not exist."""
    try:
        part = read_json(read_bytes(file), str(file))
    except FileNotFoundError:
        return Part({}, str(file))
    except OSError as error:
        raise _unreadable(file, error) from error
    if not isinstance(part.value, dict):
        raise part.refused("an object")
    return part


def _name(token: Part) -> str | None:
    """Return a token's name, which transformers writes as a string or as an object; None if there is none."""
    if token.value is None or isinstance(token.value, str):
        return token.value
    if not isinstance(token.value, dict):
        raise token.refused("the name of a token, or an object with the member “content”")
    return token.get("content").text()


def _ids(part: Part) -> set[int]:
    """Return the ids of an entry that is one id, a list of ids, or null."""
    ids = set()
    for item in part.items() if isinstance(part.value, list) else [part]:
        if type(item.value) is int:  # some files write −1 for none; `columns` drops it
            ids.add(item.value)
        elif item.value is not None or item is not part:
            raise item.refused("an id" if item is not part else "an id or a list of ids")
    return ids
