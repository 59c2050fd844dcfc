"""The application's own icon."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path


def icon_path() -> Path:
    """Return the icon's path; the package is never run from an archive, so the file remains valid."""
    with as_file(files("resources") / "icons" / "turnstile-256.png") as path:
        return path
