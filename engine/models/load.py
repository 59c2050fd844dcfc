"""`load_model`, which loads any model by its name or path, and the models with names."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Final

from engine.models.source import KindWithFiles, LogitSource, ModelError, ModelInfo, SourceKind
from engine.source import CancelToken
from engine.source.registry import OTHERS, Registry

SOURCES: Final = Registry[SourceKind](
    "engine.models.sources", "SOURCE", order=("bundled", "smollm2", "uniform", "server", OTHERS, "path", "hub")
)
"""The kinds of sources, in the order in which they are asked whether they recognise a spec."""


def known_models() -> tuple[ModelInfo, ...]:
    """Return the models with names, the bundled ones first."""
    return tuple(chain.from_iterable(kind.known_models() for kind in SOURCES))


def model_files(spec: str) -> Path | None:
    """Return the folder of an installed model, or the file of a tokenizer; None if there is none, as for GGUF files."""
    spec = spec.strip()
    kind = next((kind for kind in SOURCES if kind.recognises(spec)), None)
    return kind.files(spec) if isinstance(kind, KindWithFiles) else None


def load_model(spec: str, *, cancel: CancelToken | None = None) -> LogitSource:
    """Load a model.

    Args:
        spec: `shakespeare`, `records` or `smollm2`; `uniform:PATH` for a tokenizer alone; the path of a transformers
            folder or of a GGUF file; `llama.cpp:PATH` for a GGUF file in llama.cpp's own server; a Hub id
            (`owner/name`); or the address of a server (see `ServerSpec`).
        cancel: receives the stages ("downloading …" with bytes, "reading the weights"); checked between them.

    Raises:
        ModelError: the model cannot be loaded; the message says why and what to do.
        CancelledError: the work was cancelled.
    """
    cancel = cancel or CancelToken()
    cancel.check()
    spec = spec.strip()
    for kind in SOURCES:
        if kind.recognises(spec):
            return kind.load(spec, cancel)
    raise ModelError("errors.models.unknown", spec=spec, forms=", ".join(kind.forms for kind in SOURCES))
