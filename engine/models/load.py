"""`load_model`: load a logit source by the name or the path of a model."""

from __future__ import annotations

import re
from pathlib import Path

from engine.models.bundled import bundled_folder
from engine.models.checkpoint import library_errors, load_checkpoint
from engine.models.errors import ModelError
from engine.models.hub import hub_folder
from engine.models.libraries import libraries
from engine.models.smollm2 import smollm2_folder
from engine.models.source import LogitSource
from engine.models.transformer import TransformerSource
from engine.models.uniform import load_uniform
from engine.source import CancelToken
from engine.vocabulary import VocabularyError

_BUNDLED = ("shakespeare", "records")
_UNIFORM = "uniform:"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def load_model(spec: str, *, cancel: CancelToken | None = None) -> LogitSource:
    """Load a model.

    Args:
        spec: `shakespeare`, `records` or `smollm2`; `uniform:PATH` for a tokenizer alone; the path of a transformers
            folder or of a GGUF file; or a Hub id (`owner/name`).
        cancel: receives the stages ("downloading …" with bytes, "reading the weights"); checked between them.

    Raises:
        ModelError: the model cannot be loaded; the message says why and what to do.
        CancelledError: the work was cancelled.
    """
    cancel = cancel or CancelToken()
    cancel.check()
    spec = spec.strip()
    if spec.startswith(_UNIFORM):
        return load_uniform(Path(spec.removeprefix(_UNIFORM)).expanduser())
    if spec in _BUNDLED:
        return _load_path(spec, bundled_folder(spec), cancel)
    if spec == "smollm2":
        return _load_path("SmolLM2-135M-Instruct", smollm2_folder(cancel), cancel)
    path = Path(spec).expanduser()
    if spec and path.exists():
        return _load_path(path.stem if path.is_file() else path.resolve().name, path, cancel)
    if _HUB_ID.fullmatch(spec) and not spec.startswith(".") and path.suffix != ".gguf":
        return _load_path(spec, hub_folder(spec, cancel), cancel)
    raise ModelError(
        f"there is no model “{spec}”: give {', '.join(_BUNDLED)} or smollm2, the path of a transformers folder "
        "or .gguf file, a Hub id (owner/name), or uniform:PATH of a tokenizer"
    )


def _load_path(name: str, path: Path, cancel: CancelToken) -> LogitSource:
    checkpoint = load_checkpoint(path, cancel)
    cancel.report("reading the vocabulary", 0)
    try:
        with library_errors(path):
            source = TransformerSource(name, checkpoint, *libraries(cancel))
    except VocabularyError as error:
        raise ModelError(f"the tokenizer of {name} cannot be used: {error}") from error
    cancel.check()
    return source
