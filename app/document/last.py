"""The work that was open when the window was closed, for the next start.

The document's own file does not have it: steps and what is looked at are no edits,
so nobody is asked to save them. A file that somebody changed since is newer and
wins; work that was thrown away is not brought back.
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

LATEST = 253_402_214_400.0  # seconds since the epoch: the last day that a calendar of four digits has


class LastDocument(msgspec.Struct, frozen=True):
    """What was open.

    Attributes:
        path: of its file; empty where it had none.
        saved_at: seconds since the epoch.
        document: None where it had changes that were thrown away.
    """

    path: str
    saved_at: float
    document: DocumentFile | None = None


def keep(place: Path, path: Path | None, document: DocumentFile | None) -> bool:
    """Write what is open, and return whether that worked; a folder that cannot be written costs a line in the log."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, msgspec.json.encode(LastDocument(str(path or ""), time.time(), document)))
    except OSError as error:
        _log.warning("what is open cannot be kept at %s: %s", place, error)
        return False
    return True


def read(place: Path, on_damage: Callable[[str], object] | None = None) -> LastDocument | None:
    """Return what was open; None where there is nothing, or nothing that can be read.

    Args:
        place: the file.
        on_damage: is called with its name where it is damaged; it has been set aside by then.
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
