"""The models that the menu offers by name. Light: the window reads it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.models import smollm2
from engine.models.bundled import bundled_folder
from engine.models.errors import ModelError


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that can be asked for by name.

    Attributes:
        spec: what `load_model` takes.
        title: its name in a menu.
        description: one sentence.
        available_offline: whether it loads without a network.
        size_bytes: of its files on disk, or of the download where it is not here yet.
    """

    spec: str
    title: str
    description: str
    available_offline: bool
    size_bytes: int


def known_models() -> tuple[ModelInfo, ...]:
    """The models with a name of their own, the bundled ones first."""
    here = smollm2.is_here()
    return (
        _bundled("shakespeare", "Shakespeare", "Writes plays, one of 65 characters at a time; has no end of text."),
        _bundled("records", "Records", "Writes JSON records, dates, e-mail addresses and plain English."),
        ModelInfo(
            "smollm2",
            "SmolLM2 135M Instruct",
            "A real chat model with 49,152 tokens, fetched once.",
            here,
            smollm2.CONVERTED_BYTES if here else smollm2.DOWNLOAD_BYTES,
        ),
    )


def _bundled(spec: str, title: str, description: str) -> ModelInfo:
    try:
        weights = bundled_folder(spec) / "model.safetensors"
        size, here = weights.stat().st_size, True
    except (ModelError, OSError):
        size, here = 0, False
    return ModelInfo(spec, title, description, here, size)
