"""The two models that come with Turnstile."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Final

from engine.models.source import LogitSource, ModelError, ModelInfo
from engine.models.sources.path import load_path
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text

_MODELS: Final = ("shakespeare", "records")


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
        raise ModelError("errors.models.not_bundled", name=name)
    return folder


class _BundledModels:
    forms = ", ".join(_MODELS)

    def known_models(self) -> tuple[ModelInfo, ...]:
        return tuple(_info(spec) for spec in _MODELS)

    def recognises(self, spec: str) -> bool:
        return spec in _MODELS

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        return load_path(spec, bundled_folder(spec), cancel)

    def files(self, spec: str) -> Path:
        return bundled_folder(spec)


def _info(spec: str) -> ModelInfo:
    try:
        size, is_available = (bundled_folder(spec) / "model.safetensors").stat().st_size, True
    except (ModelError, OSError):
        size, is_available = 0, False
    title, description = (catalogue_text(f"sources.known.{spec}.{part}") for part in ("title", "description"))
    return ModelInfo(spec, title, description, is_available, size)


SOURCE = _BundledModels()
