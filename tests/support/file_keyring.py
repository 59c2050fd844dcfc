"""A keyring in a file, for tests in which several processes read it.

`keyring` finds it by its configuration, which each process reads when it first asks for a key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError
from keyring.util import platform_


def kept_file() -> Path:
    return Path(platform_.config_root()) / "kept.json"


class FileKeyring(KeyringBackend):
    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        found: str | None = self._kept().get(f"{service} {username}")
        return found

    def set_password(self, service: str, username: str, password: str) -> None:
        kept_file().write_text(json.dumps({**self._kept(), f"{service} {username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        if kept.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError
        kept_file().write_text(json.dumps(kept))

    @staticmethod
    def _kept() -> dict[str, str]:
        kept: dict[str, str] = json.loads(kept_file().read_text())
        return kept


@contextmanager
def configured() -> Iterator[Path]:
    """Give the file of the keyring that processes which start in the context have."""
    folder = Path(platform_.config_root())
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "keyringrc.cfg"
    place = f"default-keyring=file_keyring.FileKeyring\nkeyring-path={Path(__file__).parent}"
    configuration.write_text(f"[backend]\n{place}\n")
    kept_file().write_text("{}")
    yield kept_file()
    configuration.unlink()
    kept_file().unlink()
