"""How a tokenizer itself writes a text, where that can be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.models.source import LogitSource
from engine.models.uniform import UniformSource

_FILE = "tokenizer.json"


def speller_of(source: LogitSource) -> Callable[[str], Sequence[int]] | None:
    """The way a model's tokenizer writes a text; None for a vocabulary alone, which has no way of its own."""
    return None if isinstance(source, UniformSource) else source.encode


def speller_at(path: Path) -> Callable[[str], Sequence[int]] | None:
    """The same of a tokenizer's file or folder; None where it is not one that the `tokenizers` library reads."""
    file = path / _FILE if path.is_dir() else path
    if file.name != _FILE or not file.is_file():
        return None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))

    def spell(text: str) -> Sequence[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return spell
