"""The catalogue of models with a name of their own, for menus. It imports quickly, since the window uses it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.models import smollm2
from engine.models.bundled import bundled_folder
from engine.models.errors import ModelError


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
