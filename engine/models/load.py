"""The catalogue of models with a name of their own, and `load_model`, which loads any model by its name or path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from engine.models import smollm2
from engine.models.checkpoint import library_errors, load_checkpoint
from engine.models.hub import hub_folder
from engine.models.libraries import libraries
from engine.models.smollm2 import smollm2_folder
from engine.models.source import LogitSource, ModelError
from engine.models.transformer import TransformerSource
from engine.models.uniform import load_uniform
from engine.source import CancelToken
from engine.vocabulary import VocabularyError


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


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model in the catalogue.

    Attributes:
        spec: the argument for `load_model`.
        title: its name in a menu.
        description: one sentence.
        available_offline: whether it loads without a network.
        size_bytes: the size of its files, or of the download if it is not available yet.
    """

    spec: str
    title: str
    description: str
    available_offline: bool
    size_bytes: int


def known_models() -> tuple[ModelInfo, ...]:
    """Return the models of the catalogue, the bundled ones first."""
    is_available = smollm2.is_installed()
    return (
        _bundled("shakespeare", "Shakespeare", "Writes plays, one of 65 characters at a time; has no end of text."),
        _bundled("records", "Records", "Writes JSON records, dates, e-mail addresses and plain English."),
        ModelInfo(
            "smollm2",
            "SmolLM2 135M Instruct",
            "A real chat model with 49,152 tokens, fetched once.",
            is_available,
            smollm2.CONVERTED_BYTES if is_available else smollm2.DOWNLOAD_BYTES,
        ),
    )


def _bundled(spec: str, title: str, description: str) -> ModelInfo:
    try:
        weights = bundled_folder(spec) / "model.safetensors"
        size, is_available = weights.stat().st_size, True
    except (ModelError, OSError):
        size, is_available = 0, False
    return ModelInfo(spec, title, description, is_available, size)


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
