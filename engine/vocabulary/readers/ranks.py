"""Readers of tokenizers that are lists of ranked byte strings: tiktoken's ranks and Mistral's tekken."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.document import HIGHEST_ID, Part, by_id
from engine.vocabulary.readers.token_table import TokenTable, check_highest

if TYPE_CHECKING:
    import tiktoken

_MAX_RANK_DIGITS: Final = 12
RANKS_LINE = re.compile(rb"[A-Za-z0-9+/]+=* \d+\r?(\n|$)")

# The first ids of a tekken file before version 7; later files contain the names.
_TEKKEN_SPECIAL = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)


def read_ranks(content: bytes, file: str) -> TokenTable:
    """Read a tiktoken file: one token in base64 and its rank, which is its id, on each line.

    Such a file has no special tokens, and so no EOS ids.

    Args:
        content: the bytes of the file.
        file: the name of the file, for messages.

    Raises:
        VocabularyError: a line is not a token and a rank, or repeats the rank of another line.
    """
    texts: dict[int, bytes] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            encoded, rank_text = line.split()
            rank, token = _parse_rank(rank_text), base64.b64decode(encoded, validate=True)
        except (ValueError, binascii.Error) as error:
            raise VocabularyError("errors.vocabulary.rank_line", file=str(file), line=number) from error
        if texts.setdefault(rank, token) != token:
            raise VocabularyError("errors.vocabulary.rank_twice", file=str(file), line=number, rank=rank)
    return TokenTable(texts)


def _parse_rank(text: bytes) -> int:
    if not text.isdigit() or len(text) > _MAX_RANK_DIGITS:  # `int` takes signs and underscores as well
        raise ValueError(text)
    return int(text)


def read_encoding(encoding: tiktoken.Encoding) -> TokenTable:
    """Read a tiktoken encoding. Its ids have holes, for which tiktoken raises a KeyError."""
    check_highest(encoding.n_vocab - 1, len(encoding.token_byte_values()) + len(encoding.special_tokens_set))
    special = {encoding.encode_single_token(name): name for name in encoding.special_tokens_set}
    texts = {}
    for index in range(encoding.n_vocab):
        if index not in special:
            try:
                texts[index] = encoding.decode_single_token_bytes(index)
            except KeyError:
                continue
    return TokenTable(texts, special).with_common_eos_ids()


def read_tekken(document: Mapping[str, Any], file: str = "this tekken.json") -> TokenTable:
    """Read a parsed `tekken.json`: special tokens come first, then as many ranked tokens as fit."""
    root = Part(document, file)
    config = root.get("config")
    reserved = config.get("default_num_special_tokens").count()
    size = config.get("default_vocab_size")
    ordinary = size.count() - reserved
    if not reserved <= size.count() <= HIGHEST_ID:
        raise size.refused(f"at least the number of special tokens, and at most {HIGHEST_ID:,}")
    names = {index: f"<SPECIAL_{index}>" for index in range(reserved)}
    named = root.get("special_tokens")
    if named.value is None:
        names |= dict(enumerate(_TEKKEN_SPECIAL[:reserved]))
    else:
        names |= by_id(
            (entry.get("rank"), entry.get("rank").id_among(reserved), entry.get("token_str").text())
            for entry in named.items()
        )
    texts: dict[int, bytes] = {}
    for entry in root.get("vocab").items():
        rank = entry.get("rank").count()
        if rank < ordinary:
            token = _decode_base64(entry.get("token_bytes"))
            if texts.setdefault(rank + reserved, token) != token:
                raise entry.get("rank").refused("another rank, since an earlier token has it already")
    table = TokenTable(texts, names)
    return table.with_eos_ids(table.id_of("</s>"))


def _decode_base64(part: Part) -> bytes:
    try:
        return base64.b64decode(part.text(), validate=True)
    except ValueError as error:
        raise part.refused("bytes in base64") from error
