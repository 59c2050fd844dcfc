"""A model of the Hugging Face Hub, by its id."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from engine.models.hub import cached_folder, hub_folder
from engine.models.source import LogitSource, ModelInfo
from engine.models.sources.path import load_path
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text

_ID: Final = re.compile(r"[\w.-]+/[\w.-]+")


class _HubModels:
    @property
    def forms(self) -> str:
        return catalogue_text("sources.forms.hub")

    def known_models(self) -> tuple[ModelInfo, ...]:
        return ()

    def recognises(self, spec: str) -> bool:
        return _ID.fullmatch(spec) is not None and not spec.startswith(".") and Path(spec).suffix != ".gguf"

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        return load_path(spec, hub_folder(spec, cancel), cancel)

    def files(self, spec: str) -> Path | None:
        return cached_folder(spec)


SOURCE = _HubModels()
