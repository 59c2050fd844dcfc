"""What the window remembers from one start to the next: typed preferences in one JSON file.

A preferences file is a convenience and is treated as one: a missing, damaged or
newer file gives the defaults, and a home that cannot be written costs one line
in the log, and one in the window.

Rejected: `QSettings`. It is untyped, goes to the registry on Windows, and cannot
say whether it wrote anything.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec
import platformdirs

_log = logging.getLogger(__name__)

APPLICATION = "turnstile"
RECENT_FILES = 10

ThemeChoice = Literal["system", "light", "dark"]


class Preferences(msgspec.Struct, forbid_unknown_fields=False):
    """Everything that is remembered.

    Attributes:
        theme: which theme, or the desktop's.
        model: the spec of the model that a new window opens.
        recent: documents, the latest first.
        geometry, splitters: Qt's own byte strings for the window and its splitters, by name.
        window_state: `maximised`, `full screen`, or empty.
        bottom_open: whether the tabs under the panes unfold when they have something to show.
        welcomed: whether the line of the first run was dismissed.
        chip_colours: by what the output is coloured.
    """

    theme: ThemeChoice = "system"
    model: str = "shakespeare"
    recent: list[str] = []
    geometry: bytes = b""
    window_state: str = ""
    splitters: dict[str, bytes] = {}
    bottom_open: bool = True
    welcomed: bool = False
    chip_colours: str = "probability"


class Settings:
    """Reads preferences once; writes them when told to.

    Attributes:
        on_failure: is called with the reason when writing begins to fail.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.on_failure: Callable[[str], object] | None = None
        self._has_failed = False
        self._path = path or platformdirs.user_config_path(APPLICATION) / "preferences.json"
        self.preferences = self._read()

    @property
    def session_path(self) -> Path:
        """Where the work is kept that was open last."""
        return self._path.with_name("session.json")

    def change(self, **changes: Any) -> None:
        """Change preferences by name and write them."""
        self.preferences = msgspec.structs.replace(self.preferences, **changes)
        self._write()

    def remember_file(self, path: Path) -> None:
        """Put a document at the head of the recent ones."""
        name = str(path)
        others = [other for other in self.preferences.recent if other != name]
        self.change(recent=[name, *others][:RECENT_FILES])

    def forget_file(self, path: Path) -> None:
        """Take a document that cannot be opened any more out of the recent ones."""
        left = [name for name in self.preferences.recent if name != str(path)]
        if left != self.preferences.recent:
            self.change(recent=left)

    def _read(self) -> Preferences:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Preferences)
        except FileNotFoundError:
            return Preferences()
        except (OSError, msgspec.MsgspecError) as error:
            _log.warning("preferences at %s are not readable, so the defaults hold: %s", self._path, error)
            return Preferences()

    def _write(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, msgspec.json.format(msgspec.json.encode(self.preferences)))
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                _log.warning("preferences cannot be written to %s: %s", self._path, error)
                if self.on_failure is not None:
                    self.on_failure(error.strerror or str(error))
        else:
            self._has_failed = False


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
    """The permissions of a file, or those that a new one gets."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    umask = os.umask(0o077)  # there is no other way to ask for it
    os.umask(umask)
    return 0o666 & ~umask
