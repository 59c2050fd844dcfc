"""Real tokenizers that a test package carries, read once per run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from engine.vocabulary import Vocabulary


@cache
def mistral(name: str) -> Vocabulary:
    """A tokenizer file of mistral-common."""
    package = pytest.importorskip("mistral_common")
    return Vocabulary.from_tokenizer(Path(package.__file__).parent / "data" / name)
