"""SmolLM2, which is downloaded at its first use."""

from __future__ import annotations

from pathlib import Path

from engine.models import smollm2
from engine.models.source import LogitSource, ModelInfo
from engine.models.sources.path import load_path
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text


class _SmolLM2:
    forms = "smollm2"

    def known_models(self) -> tuple[ModelInfo, ...]:
        is_available = smollm2.is_installed()
        size = smollm2.CONVERTED_BYTES if is_available else smollm2.DOWNLOAD_BYTES
        title, description = (
            catalogue_text("sources.known.smollm2.title"),
            catalogue_text("sources.known.smollm2.description"),
        )
        return (ModelInfo("smollm2", title, description, is_available, size),)

    def recognises(self, spec: str) -> bool:
        return spec == "smollm2"

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        return load_path("SmolLM2-135M-Instruct", smollm2.smollm2_folder(cancel), cancel)

    def files(self, _spec: str) -> Path | None:
        return smollm2.smollm2_folder(CancelToken()) if smollm2.is_installed() else None


SOURCE = _SmolLM2()
