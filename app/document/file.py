"""Reads and writes the files of documents."""

from __future__ import annotations

from pathlib import Path

from app.storage import TooLargeError, read_limited, write_atomically
from engine.document.codec import SIZE_LIMIT, DocumentError, decode, encode
from engine.document.content import DocumentFile


def read(path: Path) -> DocumentFile:
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
        raise DocumentError(f"{path.name} is too large ({error}). It is not opened.") from None
    except (OSError, ValueError) as error:
        raise DocumentError(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def write(path: Path, document: DocumentFile) -> None:
    """Write a document; a failure leaves the old file as it was.

    Raises:
        DocumentError: the file was not written.
    """
    try:
        write_atomically(path, encode(document), is_shared=True)
    except OSError as error:
        raise DocumentError(
            f"{path.name} cannot be written: {error.strerror or error}. Your work is still open; save it elsewhere."
        ) from None
