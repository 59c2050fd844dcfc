"""The document that was open when the window was closed, for the next start.

Steps and views are not in the document's own file: they are no edits, so the user is not asked to save them. If that
file was changed since, it is newer and is opened instead; discarded work is not restored.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.document.file import SIZE_LIMIT, VERSION, DocumentFile
from app.storage import UNREADABLE, read_limited, set_aside, write_atomically

_log = logging.getLogger(__name__)

LATEST = 253_402_214_400.0  # seconds since the epoch: the last day of a calendar with four-digit years


class LastDocument(msgspec.Struct, frozen=True):
    """The last open document.

    Attributes:
        path: of its file; empty if it had none.
        saved_at: seconds since the epoch.
        document: None if it had changes that were discarded.
    """

    path: str
    saved_at: float
    document: DocumentFile | None = None


def keep(place: Path, path: Path | None, document: DocumentFile | None) -> bool:
    """Write the open document to `place`, and return whether that worked; a failure is logged.

    Args:
        place: the file of the last session.
        path: the document's own file; None if it has none.
        document: the document; None if its changes were discarded.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, msgspec.json.encode(LastDocument(str(path or ""), time.time(), document)))
    except OSError as error:
        _log.warning("what is open cannot be kept at %s: %s", place, error)
        return False
    return True


def read(place: Path, on_damage: Callable[[str], object] | None = None) -> LastDocument | None:
    """Return the last open document; None if there is none that can be read.

    Args:
        place: the file.
        on_damage: called with its name if it is damaged, after it has been set aside.
    """
    try:
        last = msgspec.json.decode(read_limited(place, SIZE_LIMIT), type=LastDocument)
        if last.document is not None:
            last.document.trace.check()
        if not 0 <= last.saved_at <= LATEST:
            raise ValueError("its time is not one")
    except FileNotFoundError:
        return None
    except UNREADABLE as error:
        _log.warning("what was open last, at %s, cannot be read: %s", place, error)
        if not isinstance(error, OSError):
            set_aside(place)
            if on_damage is not None:
                on_damage(place.name)
        return None
    is_later = last.document is not None and last.document.version > VERSION
    return None if is_later else last
