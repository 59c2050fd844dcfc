"""Reader of tokenizer files, whose format it detects by content, and of the configuration files beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.document import Part, by_id, encoded, highest_id, read_bytes, read_json
from engine.vocabulary.readers.pieces import read_model
from engine.vocabulary.readers.ranks import RANKS_LINE, read_ranks, read_tekken
from engine.vocabulary.readers.token_table import COMMON_EOS_NAMES, TokenTable
from engine.vocabulary.readers.tokenizer_json import decode_byte_level, read_names, read_tokenizer_json

_NAMES = ("tokenizer.json", "tekken.json", "tokenizer.model", "vocab.json")
_MAX_ID_DIGITS: Final = 12
_TOKENIZER: Final = "tokenizer_config.json"
_SPECIAL_TOKENS: Final = "special_tokens_map.json"
_GENERATION: Final = "generation_config.json"
_MODEL: Final = "config.json"
_TEMPLATE: Final = "chat_template.jinja"
_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@dataclass(frozen=True, slots=True)
class EndIds:
    """The EOS ids that one entry of a model folder names.

    Attributes:
        file: the name of the file.
        field: the name of the entry; empty for the chat template.
        ids: the ids, in ascending order.
    """

    file: str
    field: str
    ids: tuple[int, ...]

    @property
    def place(self) -> str:
        """Return the file with the entry."""
        return f"{self.file}: {self.field}" if self.field else self.file


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
    tokenizer = _read_settings(folder / _TOKENIZER)
    named = (tokenizer, _read_settings(folder / _SPECIAL_TOKENS))
    table = _with_added_tokens(table, tokenizer.get("added_tokens_decoder"))
    table = _with_roles(table, {_name(settings.get(role)) for settings in named for role in _ROLES})
    ends = {index for each in _tokenizer_ends(folder, table) for index in each.ids}
    if not ends:  # a damaged file that is not needed is no error
        ends = {index for each in _model_ends(folder) for index in each.ids}
    return (table.with_eos_ids(ends) if ends else table).with_common_eos_ids()


def end_ids(folder: Path, table: TokenTable) -> tuple[EndIds, ...]:
    """Return the EOS ids that each file of a model folder names; files that name none are left out.

    The chat template names those tokens that commonly end a turn and occur in it.

    Args:
        folder: the folder.
        table: the tokens of its tokenizer, special ones included.

    Raises:
        VocabularyError: a file is damaged.
    """
    template = _template(folder)
    turns = (name for name in COMMON_EOS_NAMES if name in template)
    of_template = EndIds(_TEMPLATE, "", tuple(sorted({index for name in turns for index in table.id_of(name)})))
    found = (*_tokenizer_ends(folder, table), *_model_ends(folder), of_template)
    return tuple(each for each in found if each.ids)


def _tokenizer_ends(folder: Path, table: TokenTable) -> list[EndIds]:
    found = [
        EndIds(name, "eos_token", tuple(table.id_of(_name(_read_settings(folder / name).get("eos_token")))))
        for name in (_TOKENIZER, _SPECIAL_TOKENS)
    ]
    generation = _read_settings(folder / _GENERATION)
    return [*found, EndIds(_GENERATION, "eos_token_id", tuple(sorted(_ids(generation.get("eos_token_id")))))]


def _model_ends(folder: Path) -> list[EndIds]:
    model = _read_settings(folder / _MODEL)
    inner = model.get("text_config")
    ends = EndIds(_MODEL, "eos_token_id", tuple(sorted(_ids(model.get("eos_token_id")))))
    if ends.ids or inner.value is None:
        return [ends]
    return [EndIds(_MODEL, "text_config/eos_token_id", tuple(sorted(_ids(inner.get("eos_token_id")))))]


def logits_width(folder: Path) -> int | None:
    """Return the number of logits that the model's configuration declares; None if it declares none.

    Raises:
        VocabularyError: the file is damaged.
    """
    model = _read_settings(folder / _MODEL)
    inner = model.get("text_config")
    for part in (model.get("vocab_size"), inner.get("vocab_size") if inner.value is not None else None):
        if part is not None and type(part.value) is int and part.value > 0:
            return part.value
    return None


def _template(folder: Path) -> str:
    """Return the chat template of a model folder; empty if there is none."""
    try:
        return (folder / _TEMPLATE).read_text("utf-8", "replace")
    except OSError:
        template = _read_settings(folder / _TOKENIZER).get("chat_template").value
    return template if isinstance(template, str) else ""


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
