"""The work that was open when the window was closed, for the next start.

The document's own file does not have it: steps and what is looked at are no edits,
so nobody is asked to save them. A file that somebody changed since is newer and
wins; work that was thrown away is not brought back.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

import msgspec

from app.document.file import VERSION, DocumentFile
from app.settings import write_atomically
from engine.source import InvariantError

_log = logging.getLogger(__name__)


class Last(msgspec.Struct, frozen=True):
    """What was open.

    Attributes:
        path: of its file; empty where it had none.
        saved_at: seconds since the epoch.
        document: None where it had changes that were thrown away.
    """

    path: str
    saved_at: float
    document: DocumentFile | None = None


def keep(place: Path, path: Path | None, document: DocumentFile | None) -> None:
    """Write what is open; a folder that cannot be written costs a line in the log."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, msgspec.json.encode(Last(str(path or ""), time.time(), document)))
    except OSError as error:
        _log.warning("what is open cannot be kept at %s: %s", place, error)


def read(place: Path) -> Last | None:
    """What was open; None where there is nothing, or nothing that can be read."""
    try:
        last = msgspec.json.decode(place.read_bytes(), type=Last)
        if last.document is not None:
            last.document.trace.check()
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, InvariantError, ValueError) as error:
        _log.warning("what was open last, at %s, cannot be read: %s", place, error)
        return None
    is_later = last.document is not None and last.document.version > VERSION
    return None if is_later else last
