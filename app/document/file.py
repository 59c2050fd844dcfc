"""Reads and writes the files of documents, and opens a plain grammar file as a new document."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.storage import TooLargeError, read_limited, read_start, write_atomically
from engine.automata import AUTOMATON_SUFFIXES
from engine.document.codec import SIZE_LIMIT, SUFFIX, DocumentError, decode, encode
from engine.document.content import FORMAT, DocumentFile, GrammarPart
from engine.notations import NOTATIONS

GRAMMAR_SIZE_LIMIT: Final = 2 * 1024 * 1024  # bytes; the editor shows no more


def grammar_suffixes() -> tuple[str, ...]:
    """Return the suffixes of files of grammars and automata, each with a dot."""
    return (*(suffix for notation in NOTATIONS.values() for suffix in notation.suffixes), *AUTOMATON_SUFFIXES)


def read_grammar(path: Path) -> DocumentFile:
    """Read a grammar; the file's suffix determines its notation.

    A line end at the end of a regular expression is not part of it: editors add it.

    Raises:
        DocumentError: the file is not a grammar that can be shown.
    """
    notation = NOTATIONS.of_file(path.suffix.lower())
    if notation is None:
        known = ", ".join((SUFFIX, *grammar_suffixes()))
        raise DocumentError("documents.file.unknown_kind", name=path.name, suffixes=known)
    data = read_bytes(path, GRAMMAR_SIZE_LIMIT)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DocumentError("documents.file.not_text", name=path.name, byte=error.start) from None
    if not notation.ends_with_line:
        text = text.removesuffix("\n")
    return DocumentFile(title=path.stem, grammar=GrammarPart(notation.id, text))


def is_grammar(path: Path) -> bool:
    """Return whether a file has a name of a grammar."""
    return NOTATIONS.of_file(path.suffix.lower()) is not None


def is_automaton(path: Path) -> bool:
    """Return whether a file has a name of an automaton that another program wrote."""
    return path.suffix.lower() in AUTOMATON_SUFFIXES


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


def read_document(path: Path) -> DocumentFile:
    """Read a document.

    Raises:
        DocumentError: the file is not a document that can be shown.
    """
    return decode(read_bytes(path, SIZE_LIMIT), path.name)


def read_bytes(path: Path, limit: int) -> bytes:
    """Read a file that the user chose.

    Raises:
        DocumentError: it cannot be read, or is larger than `limit` bytes.
    """
    try:
        return read_limited(path, limit)
    except TooLargeError as error:
        raise DocumentError("documents.file.too_large", name=path.name, size=error) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DocumentError("common.file.unreadable", name=path.name, reason=reason) from None


def write_document(path: Path, document: DocumentFile) -> None:
    """Write a document; a failure leaves the old file as it was.

    Raises:
        DocumentError: the file was not written.
    """
    try:
        write_atomically(path, encode(document), is_shared=True)
    except OSError as error:
        reason = error.strerror or error
        raise DocumentError("documents.file.not_written", name=path.name, reason=reason) from None
