"""Real tokenizers that a test package carries, read once per run."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from engine.vocabulary import Vocabulary


@cache
def mistral(name: str) -> Vocabulary:
    """A tokenizer file of mistral-common."""
    return Vocabulary.from_tokenizer(Path(str(files("mistral_common") / "data" / name)))
