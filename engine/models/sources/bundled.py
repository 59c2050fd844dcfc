"""The two models that come with Turnstile."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Final

from engine.models.source import LogitSource, ModelError, ModelInfo
from engine.models.sources.path import load_path
from engine.source import CancelToken

_MODELS: Final = {
    "shakespeare": ("Shakespeare", "Writes plays, one of 65 characters at a time; has no end of text."),
    "records": ("Records", "Writes JSON records, dates, e-mail addresses and plain English."),
}


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


class _BundledModels:
    forms = ", ".join(_MODELS)

    def known_models(self) -> tuple[ModelInfo, ...]:
        return tuple(_info(spec, title, description) for spec, (title, description) in _MODELS.items())

    def recognises(self, spec: str) -> bool:
        return spec in _MODELS

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        return load_path(spec, bundled_folder(spec), cancel)


def _info(spec: str, title: str, description: str) -> ModelInfo:
    try:
        size, is_available = (bundled_folder(spec) / "model.safetensors").stat().st_size, True
    except (ModelError, OSError):
        size, is_available = 0, False
    return ModelInfo(spec, title, description, is_available, size)


SOURCE = _BundledModels()
