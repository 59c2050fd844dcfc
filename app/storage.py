"""Files of the application's own: written whole or not at all, and set aside where they are damaged.

Whatever a file of the user's home contains, the window opens: it takes the defaults, keeps the damaged file under
another name for whoever wants to look into it, and says so once.
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

import msgspec

from engine.source import InvariantError

_log = logging.getLogger(__name__)

APPLICATION: Final = "turnstile"
"""The name of the application's folders."""

_MARK: Final = ".damaged-"
_DIGITS: Final = 6
_KEPT: Final = 5  # damaged files for each name
_NAME_LIMIT: Final = 80  # characters of a damaged file's own name, so that the new one is not too long for the disk

UNREADABLE: Final = (
    OSError,
    ValueError,  # msgspec's own errors, a text that is not UTF-8, a path with a NUL, a value that a class refuses
    OverflowError,
    RecursionError,
    MemoryError,
    InvariantError,
    msgspec.MsgspecError,
)
"""All that reading a damaged file may raise."""


class TooLargeError(ValueError):
    """A file is larger than any that the application writes."""


def read_limited(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes.

    Raises:
        OSError: it cannot be read, or is no regular file.
        TooLargeError: it is larger.
        ValueError: the path is none.
    """
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise TooLargeError(f"{path.stat().st_size:,} bytes; the limit is {limit:,}")
    return data


def read_start(path: Path, size: int) -> bytes:
    """Read up to `size` bytes from the start of a regular file.

    Raises:
        OSError: it cannot be read, or is no regular file: a pipe would have the window wait for ever.
        ValueError: the path is none.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return file.read(size)


def exists(path: Path) -> bool:
    """Return whether there is a file; False for a path that the system cannot even look up."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_small_number(text: str) -> bool:
    """Return whether a text from a file is a number that Qt can take."""
    return text.isdecimal() and len(text) <= _DIGITS


def set_aside(path: Path, group: str = "") -> bool:
    """Give a damaged file a name that says when it was found, and remove the oldest of many such files.

    Args:
        path: the file.
        group: how the names end of all the files that are counted together; the file's own name by default.

    Returns:
        whether it was renamed; False where the folder cannot be written.
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
    for old in sorted(marked, key=lambda one: one.name.partition(_MARK)[2])[:-_KEPT]:
        with contextlib.suppress(OSError):
            old.unlink()
    return True


def write_atomically(path: Path, data: bytes, *, is_shared: bool = False) -> None:
    """Replace a file's content so that a crash leaves either the old one or the new one.

    Args:
        path: the file.
        data: all of its new content.
        is_shared: whether others may read it, as far as the user lets them: it keeps the rights that it had, or gets
            those of any new file. Otherwise it is the user's alone.

    Raises:
        OSError: the file is as it was.
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
    """Return the permissions of a file, or those that a new one gets."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    umask = os.umask(0o077)  # there is no other way to ask for it
    os.umask(umask)
    return 0o666 & ~umask
