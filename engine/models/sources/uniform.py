"""A tokenizer alone, with equal logits."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.models.source import LogitSource, ModelInfo
from engine.models.uniform import load_uniform
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text

_PREFIX: Final = "uniform:"


class _Tokenizers:
    @property
    def forms(self) -> str:
        return catalogue_text("sources.forms.uniform", prefix=_PREFIX)

    def known_models(self) -> tuple[ModelInfo, ...]:
        return ()

    def recognises(self, spec: str) -> bool:
        return spec.startswith(_PREFIX)

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        return load_uniform(self.files(spec))

    def files(self, spec: str) -> Path:
        return Path(spec.removeprefix(_PREFIX)).expanduser()


SOURCE = _Tokenizers()
