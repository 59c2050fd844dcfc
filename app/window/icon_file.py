"""The application's own icon."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path


def icon_path() -> Path:
    """Where the icon lies; the package is never run from an archive, so the file outlives the context."""
    with as_file(files("resources") / "icons" / "turnstile-256.png") as path:
        return path
