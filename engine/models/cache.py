"""The cache folder of downloaded models, which is written atomically.

A download is prepared in a temporary folder beside its final location and then
renamed. So a reader sees all of it or nothing, even after an interruption.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from engine.models.errors import ModelError

VARIABLE = "TURNSTILE_CACHE"
_PARTIAL = ".partial-"
_STALE_SECONDS = 24 * 3600


def cache_folder() -> Path:
    """Return the folder of downloaded models: in `TURNSTILE_CACHE`, or in the user's cache folder of the platform."""
    chosen = os.environ.get(VARIABLE)
    root = Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("turnstile", appauthor=False)
    return root / "models"


@contextmanager
def temporary_folder(needed_bytes: int) -> Iterator[Path]:
    """Create an empty folder on the disk of the cache, which is removed at the end in any case.

    Args:
        needed_bytes: the largest amount that will be written.

    Raises:
        ModelError: the cache is not writable, the disk has less free space than needed, or it is full during the work.
    """
    root = cache_folder()
    with _disk_errors(root, needed_bytes):
        root.mkdir(parents=True, exist_ok=True)
        _remove_stale(root)
        free = shutil.disk_usage(root).free
        if free < needed_bytes:
            raise ModelError(
                f"{root} has {free / 1e6:,.0f} MB free and {needed_bytes / 1e6:,.0f} MB are needed; "
                f"free some space, or name another folder in {VARIABLE}"
            )
        folder = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=root))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def install(source: Path, final: Path) -> None:
    """Move a finished folder to its final location, unless another process was first."""
    try:
        source.replace(final)
    except OSError:
        if not final.is_dir():
            raise


@contextmanager
def _disk_errors(root: Path, needed_bytes: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"{root} cannot be written ({error.strerror or error}); make {needed_bytes / 1e6:,.0f} MB available there, "
            f"or name another folder in {VARIABLE}"
        ) from error


def _remove_stale(root: Path) -> None:
    """Remove folders that killed processes left; recent ones stay, since a process may still use them."""
    for leftover in root.glob(_PARTIAL + "*"):
        if time.time() - leftover.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(leftover, ignore_errors=True)
