"""Opens a plain grammar file as a new document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from app.document.file import read_bytes
from app.storage import read_start
from engine.document.codec import SUFFIX, DocumentError
from engine.document.content import FORMAT, DocumentFile, GrammarPart

NOTATIONS: Final[Mapping[str, str]] = {
    ".gbnf": "gbnf",
    ".json": "json_schema",
    ".regex": "regex",
    ".re": "regex",
    ".txt": "regex",
}
"""Notations by file suffix."""
SIZE_LIMIT: Final = 2 * 1024 * 1024  # bytes; the editor shows no more


def read(path: Path) -> DocumentFile:
    """Read a grammar; the file's suffix determines its notation.

    A line end at the end of a regex is not part of it: editors add it.

    Raises:
        DocumentError: the file is not a grammar that can be shown.
    """
    notation = NOTATIONS.get(path.suffix.lower())
    if notation is None:
        known = ", ".join((SUFFIX, *NOTATIONS))
        raise DocumentError(f"{path.name} is neither a document nor a grammar: Turnstile opens {known}.")
    data = read_bytes(path, SIZE_LIMIT)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path.name} is not UTF-8 text (byte {error.start:,}). Save it as UTF-8.") from None
    if notation == "regex":
        text = text.removesuffix("\n")
    return DocumentFile(title=path.stem, grammar=GrammarPart(notation, text))


def is_document(path: Path) -> bool:
    """Return whether a file is a document, whatever its name."""
    if path.suffix.lower() == SUFFIX:
        return True
    if path.suffix.lower() != ".json":
        return False
    try:
        head = read_start(path, 4096)
    except (OSError, ValueError):
        return False
    return head.lstrip().startswith(b"{") and f'"format": "{FORMAT}"'.encode() in head[:200]
