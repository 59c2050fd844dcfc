"""The folder for what is fetched once, written so that an interruption leaves nothing half done.

Whatever is fetched is made in a folder of its own beside its final place, and takes
that place by one rename. A reader therefore sees all of it or nothing.
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
    """Where fetched models live: `TURNSTILE_CACHE`, or the platform's cache folder of the user."""
    chosen = os.environ.get(VARIABLE)
    root = Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("turnstile", appauthor=False)
    return root / "models"


@contextmanager
def workplace(needed_bytes: int) -> Iterator[Path]:
    """A fresh folder on the cache's disk, removed at the end whatever happens.

    Args:
        needed_bytes: what will be written at most; refused at once where the disk lacks it.

    Raises:
        ModelError: the cache cannot be written, or the disk is full, before or during the work.
    """
    root = cache_folder()
    with _disk_errors(root, needed_bytes):
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root)
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


def install(made: Path, final: Path) -> None:
    """Give a finished folder its place; where another process was first, its work stays."""
    try:
        made.replace(final)
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


def _sweep(root: Path) -> None:
    """Remove what killed processes left; the age keeps those that are still at work."""
    for leftover in root.glob(_PARTIAL + "*"):
        if time.time() - leftover.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(leftover, ignore_errors=True)
