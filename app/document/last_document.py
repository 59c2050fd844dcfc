"""The documents that were open when the window was closed, for the next start.

Steps and views are not in the document's own file: they are no edits, so the user is not asked to save them. If that
file was changed since, it is newer and is opened instead; discarded work is not restored.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.storage import UNREADABLE, read_limited, set_aside, write_atomically
from engine.document.codec import SIZE_LIMIT, DocumentError, LaterVersionError, decode, stored_fields
from engine.document.content import DocumentFile

_log = logging.getLogger(__name__)

LATEST = 253_402_214_400.0  # seconds since the epoch: the last day of a calendar with four-digit years


@dataclass(frozen=True, slots=True)
class LastDocument:
    """What was open.

    Attributes:
        path: of its file; empty if it had none.
        saved_at: seconds since the epoch.
        document: None if it had changes that were discarded.
        others: the documents behind it, in the order of their tabs.
        position: how many of them were before it.
    """

    path: str
    saved_at: float
    document: DocumentFile | None = None
    others: tuple[LastDocument, ...] = ()
    position: int = 0


class _StoredOther(msgspec.Struct, frozen=True):
    """The form in which a document behind the shown one is stored."""

    path: str
    document: msgspec.Raw = msgspec.Raw(b"null")


class _Stored(msgspec.Struct, frozen=True):
    """The form in which `LastDocument` is stored."""

    path: str
    saved_at: float
    document: msgspec.Raw = msgspec.Raw(b"null")
    others: tuple[_StoredOther, ...] = ()
    position: int = 0


def write(
    place: Path,
    path: Path | None,
    document: DocumentFile | None,
    others: Sequence[tuple[Path | None, DocumentFile | None]] = (),
    position: int = 0,
) -> bool:
    """Write the open documents to `place`, and return whether that worked; a failure is logged.

    Args:
        place: the file of the last session.
        path: the own file of the shown document; None if it has none.
        document: the shown document; None if its changes were discarded.
        others: the files and the contents of those behind it.
        position: how many of them are before it.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        behind = [_fields(*one) for one in others]
        stored = {**_fields(path, document), "saved_at": time.time(), "others": behind, "position": position}
        write_atomically(place, msgspec.json.encode(stored))
    except OSError as error:
        _log.warning("what is open cannot be kept at %s: %s", place, error)
        return False
    return True


def _fields(path: Path | None, document: DocumentFile | None) -> dict[str, object]:
    return {"path": str(path or ""), "document": None if document is None else stored_fields(document)}


def read(place: Path, on_damage: Callable[[str], object] | None = None) -> LastDocument | None:
    """Return the last open document; None if there is none that can be read.

    Args:
        place: the file.
        on_damage: called with its name if it is damaged, after it has been set aside.
    """
    try:
        stored = msgspec.json.decode(read_limited(place, SIZE_LIMIT), type=_Stored)
        document = _decoded(stored.document, place)
        others = tuple(LastDocument(one.path, stored.saved_at, _decoded(one.document, place)) for one in stored.others)
        if not 0 <= stored.saved_at <= LATEST:
            raise ValueError("its time is not one")
    except (FileNotFoundError, LaterVersionError):
        return None
    except (*UNREADABLE, DocumentError) as error:
        _log.warning("what was open last, at %s, cannot be read: %s", place, error)
        if not isinstance(error, OSError):
            set_aside(place)
            if on_damage is not None:
                on_damage(place.name)
        return None
    return LastDocument(stored.path, stored.saved_at, document, others, stored.position)


def _decoded(stored: msgspec.Raw, place: Path) -> DocumentFile | None:
    return None if bytes(stored) == b"null" else decode(bytes(stored), place.name)
