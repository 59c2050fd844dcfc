"""A keyring in a file, for tests in which several processes read it.

`keyring` finds it by its configuration, which each process reads when it first asks for a key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.compat import properties
from keyring.core import init_backend
from keyring.errors import PasswordDeleteError
from keyring.util import platform_


def kept_file() -> Path:
    return Path(platform_.config_root()) / "kept.json"


def write(kept: dict[str, str]) -> None:
    """Replace the file, whichever process reads it at that moment."""
    new = kept_file().with_suffix(".new")
    new.write_text(json.dumps(kept))
    new.replace(kept_file())


class FileKeyring(KeyringBackend):
    @properties.classproperty
    def priority(self) -> float:
        """Return the priority by which `keyring` chooses, or raise `RuntimeError` where no test configured this one."""
        if not kept_file().exists():
            raise RuntimeError
        return 1

    def get_password(self, service: str, username: str) -> str | None:
        found: str | None = self._kept().get(f"{service} {username}")
        return found

    def set_password(self, service: str, username: str, password: str) -> None:
        write({**self._kept(), f"{service} {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        if kept.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError
        write(kept)

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
    write({})
    yield kept_file()
    configuration.unlink()
    kept_file().unlink()
    init_backend()  # this process may have read the configuration, too
