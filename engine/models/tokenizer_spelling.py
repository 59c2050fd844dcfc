"""How a tokenizer itself writes a text, where that can be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.models.checkpoint import library_errors
from engine.models.source import LogitSource
from engine.models.uniform import UniformSource
from engine.source import EngineError
from engine.vocabulary import Vocabulary

Spell = Callable[[str], Sequence[int]]
"""How a tokenizer writes a text, as ids; special ones in front do not count."""

_FILE = "tokenizer.json"
_ANCHOR = "\n"


def tokenizer_spelling(data: bytes, vocabulary: Vocabulary, spell: Spell) -> tuple[int, ...] | None:
    """How a tokenizer writes a whole text; None where it would write another one.

    A tokenizer that puts a blank before every text is asked for the text behind a line end.

    Args:
        data: the text; UTF-8.
        vocabulary: whose tokens.
        spell: the tokenizer.
    """
    try:
        text = data.decode()
        for anchor in ("", _ANCHOR):
            ids = _behind(anchor.encode(), tuple(spell(anchor + text)), vocabulary)
            if ids is not None and b"".join(vocabulary.token_bytes(token_id) or b"" for token_id in ids) == data:
                return ids
    except (UnicodeDecodeError, EngineError):
        pass
    return None


def _behind(anchor: bytes, ids: tuple[int, ...], vocabulary: Vocabulary) -> tuple[int, ...] | None:
    """What follows an anchor, and special tokens in front; None where no token ends with the anchor."""
    at = next((i for i, token_id in enumerate(ids) if token_id not in vocabulary.special), len(ids))
    if not anchor:
        return ids[at:]
    read = b""
    while at < len(ids) and not read.endswith(anchor):
        read += vocabulary.token_bytes(ids[at]) or b""
        at += 1
    return ids[at:] if read.endswith(anchor) else None


def speller_of(source: LogitSource) -> Spell | None:
    """Return the function by which a model's tokenizer encodes a text; None for a vocabulary without a tokenizer."""
    return None if isinstance(source, UniformSource) else source.encode


def speller_at(path: Path) -> Spell | None:
    """Return the encoding function of a tokenizer's file or folder; None if the `tokenizers` library does not read it.

    Raises:
        ModelError: the library cannot read the file, or the speller cannot write a text.
    """
    file = path / _FILE if path.is_dir() else path
    if file.name != _FILE or not file.is_file():
        return None
    from tokenizers import Tokenizer

    with library_errors(file):
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()  # to a length that the file may choose
        tokenizer.no_truncation()

    def spell(text: str) -> Sequence[int]:
        with library_errors(file):
            ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
            return ids

    return spell
