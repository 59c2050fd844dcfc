"""Preferences that the window keeps from one start to the next, in one JSON file.

A missing, damaged or newer preferences file gives the defaults (a damaged one is set aside), and a home folder that is
not writable causes one line in the log and one notification.

Rejected: `QSettings`. It is untyped, uses the registry on Windows, and cannot report whether it wrote anything.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import platformdirs

from app.storage import APPLICATION, UNREADABLE, read_limited, set_aside, write_atomically

_log = logging.getLogger(__name__)

RECENT_FILES = 10
RECENT_SERVERS = 8
_SIZE_LIMIT = 1024 * 1024  # bytes

ThemeChoice = Literal["system", "light", "dark"]
PaletteChoice = Literal["standard", "safe", "contrast"]


class Preferences(msgspec.Struct, forbid_unknown_fields=False):
    """The stored preferences.

    Attributes:
        theme: a theme, or the desktop's.
        palette: the colours of the theme.
        text_size: the points by which the text is larger than the desktop's.
        model: the spec of the model that a new window opens.
        recent: documents, the latest first.
        servers: specs of servers to which the user attached, the latest first.
        geometry, splitters: Qt's own byte strings for the window and its splitters, by name.
        window_state: `maximised`, `full screen`, or empty.
        bottom_open: whether the bottom panel opens when it has something to show.
        welcomed: whether the welcome page was left.
        chip_colours: the quantity by which the output is coloured.
    """

    theme: ThemeChoice = "system"
    palette: PaletteChoice = "standard"
    text_size: int = 0
    model: str = "shakespeare"
    recent: list[str] = []
    servers: list[str] = []
    geometry: bytes = b""
    window_state: str = ""
    splitters: dict[str, bytes] = {}
    bottom_open: bool = True
    welcomed: bool = False
    chip_colours: str = "probability"


FIRST_MODEL: Final = Preferences().model
BYTE_MODEL: Final = "records"
"""A bundled model with a token for every byte, so that it can spell any grammar."""


class Settings:
    """Reads preferences once, and writes every change.

    Attributes:
        on_failure: called with the reason when writing begins to fail.
        damaged: the name of the file if it was damaged, so that the defaults apply; otherwise empty.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.on_failure: Callable[[str], object] | None = None
        self._has_failed = False
        self.damaged = ""
        self._path = path or platformdirs.user_config_path(APPLICATION) / "preferences.json"
        self.preferences = self._read()

    @property
    def session_path(self) -> Path:
        """Return the file of the last open document."""
        return self._path.with_name("session.json")

    def change(self, **changes: Any) -> None:
        """Change preferences by name and write them."""
        self.preferences = msgspec.structs.replace(self.preferences, **changes)
        self._write()

    def remember_file(self, path: Path) -> None:
        """Move a document to the top of the recent ones."""
        name = str(path)
        others = [other for other in self.preferences.recent if other != name]
        self.change(recent=[name, *others][:RECENT_FILES])

    def forget_file(self, path: Path) -> None:
        """Remove a document that cannot be opened any more from the recent ones."""
        remaining = [name for name in self.preferences.recent if name != str(path)]
        if remaining != self.preferences.recent:
            self.change(recent=remaining)

    def remember_server(self, spec: str) -> None:
        """Move a server to the top of the recent ones."""
        others = [other for other in self.preferences.servers if other != spec]
        self.change(servers=[spec, *others][:RECENT_SERVERS])

    def _read(self) -> Preferences:
        try:
            return msgspec.json.decode(read_limited(self._path, _SIZE_LIMIT), type=Preferences)
        except FileNotFoundError:
            return Preferences()
        except UNREADABLE as error:
            _log.warning("preferences at %s are not readable, so the defaults hold: %s", self._path, error)
            if not isinstance(error, OSError):
                set_aside(self._path)
                self.damaged = self._path.name
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
