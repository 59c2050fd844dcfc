"""Tokenisation of a text by the model's own tokenizer, if it is available."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.models.checkpoint import library_errors
from engine.models.source import LogitSource
from engine.models.uniform import UniformSource
from engine.source import EngineError
from engine.vocabulary import Vocabulary

TextEncoder = Callable[[str], Sequence[int]]
"""A function that tokenises a text; special tokens at the start of its result are ignored."""

_FILE = "tokenizer.json"
_ANCHOR = "\n"


def encode_exactly(data: bytes, vocabulary: Vocabulary, encode: TextEncoder) -> tuple[int, ...] | None:
    """Return the tokens of a text by the tokenizer; None if their bytes differ from the text.

    If the tokenizer adds a space before every text, the text is tokenised after a line feed.

    Args:
        data: the text, in UTF-8.
        vocabulary: the vocabulary of the tokenizer.
        encode: the tokenizer.
    """
    try:
        text = data.decode()
        for anchor in ("", _ANCHOR):
            ids = _ids_after(anchor.encode(), tuple(encode(anchor + text)), vocabulary)
            if ids is not None and b"".join(vocabulary.token_bytes(token_id) or b"" for token_id in ids) == data:
                return ids
    except (UnicodeDecodeError, EngineError):
        pass
    return None


def _ids_after(anchor: bytes, ids: tuple[int, ...], vocabulary: Vocabulary) -> tuple[int, ...] | None:
    """Return the ids after special tokens at the start and an anchor; None if no token ends with the anchor."""
    index = next((i for i, token_id in enumerate(ids) if token_id not in vocabulary.special), len(ids))
    if not anchor:
        return ids[index:]
    data = b""
    while index < len(ids) and not data.endswith(anchor):
        data += vocabulary.token_bytes(ids[index]) or b""
        index += 1
    return ids[index:] if data.endswith(anchor) else None


def text_encoder_of(source: LogitSource) -> TextEncoder | None:
    """Return the function by which a model's tokenizer encodes a text; None for a vocabulary without a tokenizer."""
    return None if isinstance(source, UniformSource) else source.encode


def read_text_encoder(path: Path) -> TextEncoder | None:
    """Return the encoding function of a tokenizer's file or folder; None if the `tokenizers` library does not read it.

    Raises:
        ModelError: the library cannot read the file, or the function cannot encode a text.
    """
    file = path / _FILE if path.is_dir() else path
    if file.name != _FILE or not file.is_file():
        return None
    from tokenizers import Tokenizer

    with library_errors(file):
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()  # the file may enable padding and truncation
        tokenizer.no_truncation()

    def encode(text: str) -> Sequence[int]:
        with library_errors(file):
            ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
            return ids

    return encode
