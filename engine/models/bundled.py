"""Locations of the bundled models, in a checkout or an installed wheel."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from engine.models.errors import ModelError


def bundled_folder(name: str) -> Path:
    """Return the folder of a bundled model.

    Raises:
        ModelError: the installation does not include it.
    """
    try:
        folder = Path(str(resources.files("resources"))) / "models" / name
    except ModuleNotFoundError:
        folder = Path(name)
    if not (folder / "config.json").is_file():
        raise ModelError(f"the bundled model “{name}” is missing from this installation; install Turnstile again")
    return folder
