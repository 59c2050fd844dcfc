"""Files of the application: written atomically, and set aside if they are damaged.

Whatever a file in the user's home contains, the window opens: it uses the defaults, keeps the damaged file under
another name for inspection, and reports it once.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import stat
import tempfile
import time
from pathlib import Path
from typing import Final

from engine.document import codec

_log = logging.getLogger(__name__)

APPLICATION: Final = "turnstile"
"""The name of the application's folders."""

_MARK: Final = ".damaged-"
_DIGITS: Final = 6
_MOST_KEPT: Final = 5  # damaged files for each name
_NAME_LIMIT: Final = (
    80  # characters of a damaged file's own name, so that the new one is not too long for the file system
)

UNREADABLE: Final = (OSError, *codec.UNREADABLE)
"""All exceptions that reading a damaged file may raise."""


class TooLargeError(ValueError):
    """A file is larger than any that the application writes."""


def read_limited(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes.

    Raises:
        OSError: it cannot be read, or is not a regular file.
        TooLargeError: it is larger.
        ValueError: the path is invalid.
    """
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise TooLargeError(f"{path.stat().st_size:,} bytes; the limit is {limit:,}")
    return data


def read_start(path: Path, size: int) -> bytes:
    """Read up to `size` bytes from the start of a regular file.

    Raises:
        OSError: it cannot be read, or is not a regular file: a pipe would block the window forever.
        ValueError: the path is invalid.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return file.read(size)


def exists(path: Path) -> bool:
    """Return whether there is a file; False for a path that the system cannot look up."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_small_number(text: str) -> bool:
    """Return whether a text from a file is a number that Qt accepts."""
    return text.isdecimal() and len(text) <= _DIGITS


def set_aside(path: Path, group: str = "") -> bool:
    """Rename a damaged file with the time, and remove the oldest of many such files.

    Args:
        path: the file.
        group: the common suffix of the names of all files that are counted together; the file's own name by default.

    Returns:
        whether it was renamed; False if the folder cannot be written.
    """
    stem = f"{path.name[-_NAME_LIMIT:]}{_MARK}{time.strftime('%Y%m%d-%H%M%S')}"
    names = (path.with_name(stem if number == 1 else f"{stem}-{number}") for number in itertools.count(1))
    try:
        path.rename(next(name for name in names if not name.exists()))
        aside = [one for one in path.parent.iterdir() if one.name.partition(_MARK)[0].endswith(group or path.name)]
    except (OSError, ValueError) as error:
        _log.warning("the damaged file %s cannot be renamed: %s", path, error)
        return False
    marked = (one for one in aside if _MARK in one.name)
    for old in sorted(marked, key=lambda one: one.name.partition(_MARK)[2])[:-_MOST_KEPT]:
        with contextlib.suppress(OSError):
            old.unlink()
    return True


def write_atomically(path: Path, data: bytes, *, is_shared: bool = False) -> None:
    """Replace a file's content so that a crash leaves either the old one or the new one.

    Args:
        path: the file.
        data: its new content.
        is_shared: whether others may read it, as far as the user allows: it keeps its permissions, or gets those of any
            new file. Otherwise only the user has access.

    Raises:
        OSError: the file is unchanged.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            if is_shared:
                Path(name).chmod(_rights(path))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _rights(path: Path) -> int:
    """Return the permissions of a file, or those of a new one."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    umask = os.umask(0o077)  # there is no other way to read it
    os.umask(umask)
    return 0o666 & ~umask
